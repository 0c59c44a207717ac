"""The host: sockets, pages, the clock. It carries out what the table decides, and decides nothing of a game itself."""

from chilkoot.host.server import serve

__all__ = ["serve"]
