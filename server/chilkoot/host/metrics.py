"""What a server counts about itself, and how Prometheus reads it: sums over all games, never one game, card or secret.

The text format is written here in a few lines, for a library would bring more threads and registries than there are numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chilkoot.host.house import House

__all__ = ["METRICS_KIND", "Histogram", "Metrics", "exposition"]

METRICS_KIND: Final = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_UNITS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Histogram:
    """How often a value lay between bounds."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> list[str]:
        """The histogram in Prometheus' text format."""
        found, lines = 0, []
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            found += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {found}')
        return [*lines, f"{name}_sum {self.total:.6f}", f"{name}_count {found}"]


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.actions = 0
        self.refusals: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.collapses = 0
        """Times that a connection's waiting events gave way to snapshots."""
        self.cuts: Counter[str] = Counter()
        """Connections ended by the server because of what they did, or did not do, by the reason."""
        self.batches = Histogram(_UNITS)
        """Units in a transaction."""
        self.commits = Histogram(_SECONDS)
        """Seconds from handing a unit over to knowing that it is durable."""
        self.lag = Histogram(_SECONDS)
        """Seconds by which the event loop woke a task too late, twice a second."""


def exposition(house: House) -> str:
    """All numbers of a server, in Prometheus' text format."""
    metrics = house.metrics
    lines: list[str] = []

    def tell(name: str, kind: str, about: str, samples: list[str]) -> None:
        lines.extend((f"# HELP {name} {about}", f"# TYPE {name} {kind}", *samples))

    for name, about, value in (
        ("connections", "Open WebSocket connections.", len(house.connections)),
        ("sessions", "Sessions in memory.", len(house.sessions)),
        ("games_in_memory", "Games in memory.", len(house.hub)),
        ("races_in_memory", "Races in memory.", len(house.races)),
        ("variants", "Variants on offer.", len(house.library.variants())),
        ("draining", "Whether the server is about to stop.", int(house.is_draining)),
    ):
        tell(f"chilkoot_{name}", "gauge", about, [f"chilkoot_{name} {value}"])
    for name, about, count in (
        ("actions_total", "Actions put on record.", metrics.actions),
        ("outbox_collapses_total", "Times that waiting events gave way to snapshots.", metrics.collapses),
    ):
        tell(f"chilkoot_{name}", "counter", about, [f"chilkoot_{name} {count}"])
    for name, label, about, counts in (
        ("refusals_total", "code", "Actions that the rules refused.", metrics.refusals),
        ("errors_total", "code", "Commands that could not be dealt with.", metrics.errors),
        ("cut_connections_total", "reason", "Connections that the server ended.", metrics.cuts),
    ):
        samples = [f'chilkoot_{name}{{{label}="{one}"}} {counts[one]}' for one in sorted(counts)]
        tell(f"chilkoot_{name}", "counter", about, samples)
    for name, about, histogram in (
        ("commit_batch_units", "Units in one transaction.", metrics.batches),
        ("commit_seconds", "Seconds until a unit is durable.", metrics.commits),
        ("loop_lag_seconds", "Seconds by which the event loop is late.", metrics.lag),
    ):
        tell(f"chilkoot_{name}", "histogram", about, histogram.lines(f"chilkoot_{name}"))
    return "\n".join(lines) + "\n"
