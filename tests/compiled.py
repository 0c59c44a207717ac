"""Run by itself: compiles the solver once, into the folder where whoever uses it finds it; takes a second when it is there."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from chilkoot.data import keep_compiled_solver, rules_folder

# Before the solver is imported, which reads it then.
keep_compiled_solver()

from chilkoot.engine import Game  # noqa: E402
from chilkoot.library import Library  # noqa: E402
from chilkoot.solver.foresight import foresee  # noqa: E402
from chilkoot.solver.sight import sight_of  # noqa: E402
from chilkoot.solver.solve import solve  # noqa: E402
from chilkoot.solver.verdict import Budget  # noqa: E402

# What is searched from deal to deal of a stock has code of its own.
for shipped in filter(None, map(Library([rules_folder()]).variant, ("spider", "yukon"))):
    game = Game.start(shipped.levels[0].rules, "ms:4")
    solve(game.position, Budget(positions=100))
    foresee(sight_of(game), 1)
