"""A headless Chromium for tests of the page; without one they are skipped, with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@contextmanager
def opened(**context: Any) -> Iterator[Any]:
    """A page, which must have met no error when it is closed."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: requirements-browser.txt"
    )
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(**context).new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        yield page
        browser.close()
        assert not wrong


def written(page: Any, text: str) -> None:
    """Type a query in place of the one that is there."""
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def until(page: Any, true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something; the page lets nobody evaluate text, as pages that wait by themselves would."""
    for _ in range(int(seconds * 20)):
        if true():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it has not come")
