"""What the server itself thinks of a game: the fair policy behind hints and Auto."""

from chilkoot.solver.policy import Advice, advise

__all__ = ["Advice", "advise"]
