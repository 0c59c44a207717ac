"""The command `chilkoot`: what can be typed, where each sub-command is carried out, and how a run ends.

Nothing heavy is imported before it is known what was asked for: `chilkoot rules check` must not wait for a database library.
A user never sees a traceback: what is wrong with their input is said in a sentence, what is wrong with the program goes to
a file that can be sent along.

Exit status: 0 all is well, 1 something is wrong with what was read, 2 the command line asks for what can't be.
"""

from chilkoot.cli.program import main

__all__ = ["main"]
