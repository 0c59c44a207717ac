"""A server for a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers import NO_LIMITS, LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server on which one address may do what many do elsewhere."""
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path_factory.mktemp("server"), *flags) as running:
        yield running
