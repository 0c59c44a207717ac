"""What the server itself thinks of a game: the fair policies behind hints and Auto."""

from chilkoot.solver.policy import Advice, advise
from chilkoot.solver.sight import Sight, sight_of

__all__ = ["Advice", "Sight", "advise", "sight_of"]
