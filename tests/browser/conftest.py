"""A browser and a server for each module, a window for each question."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from servers import NO_LIMITS, LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from browser.window import Window

OpenWindow = Callable[..., "Window"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it; it runs headless.

    Not kept for longer: its driver has an event loop running, in which no test with a loop of its own could run afterwards.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only those tests need it

    program = next(
        found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))
    )
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, headless=True)
        yield running
        running.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server without limits."""
    flags = [part for name in NO_LIMITS for part in ("--limit", f"{name}=0")]
    with LiveServer(tmp_path_factory.mktemp("server"), *flags) as running:
        yield running


@pytest.fixture
def open_window(browser: Browser, server: LiveServer) -> Iterator[OpenWindow]:
    """Opens windows of any size; at the end of the test none of them may have had any trouble."""
    from browser.window import Window  # noqa: PLC0415

    opened: list[Window] = []

    def opens(width: int = 1024, height: int = 768, *, calm: bool = True, **options: Any) -> Window:
        named = {
            "viewport": {"width": width, "height": height},
            "color_scheme": "dark",
            "reduced_motion": "no-preference",
            "locale": "en-GB",
            "service_workers": "allow",
        }
        context = browser.new_context(**(named | options))
        window = Window(context, f"http://127.0.0.1:{server.port}")
        window.is_calm = calm
        opened.append(window)
        return window

    yield opens
    for window in opened:
        window.close()
    for window in opened:
        if window.is_calm:
            window.has_no_troubles()
