"""Pictures of the console for the documents, by headless Chromium: console.png, console_dark.png and console.gif.

    .venv/bin/python scripts/screenshots.py [DIR]

It shows the console over its sample streams, which replay serves; no Spark is started.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from windrow.console.door import serve_backend
from windrow.console.of_replay import ReplayBackend

FRAMES, EVERY_MS = 24, 250


def main(folder: Path) -> None:
    """Leave the pictures in `folder`."""
    chromium = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if chromium is None:
        sys.exit("there is no Chromium here: apt-get install chromium")
    backend = ReplayBackend()
    try:
        with serve_backend(backend, port=0) as server, sync_playwright() as driver:
            time.sleep(20)  # so that charts and panes have a past
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for theme, name in (("light", "console.png"), ("dark", "console_dark.png")):
                page = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme).new_page()
                page.goto(server.link)
                page.wait_for_selector("td >> text=vwap")
                page.goto(f"{server.url}/#/query/vwap")
                page.wait_for_selector("text=answers come in")
                page.wait_for_timeout(2500)
                page.screenshot(path=folder / name)
                if theme == "light":
                    animation(page, folder / "console.gif")
            browser.close()
    finally:
        backend.close()


def animation(page: Page, path: Path) -> None:
    """The drawing of panes, windows and clock as they move."""
    frames = []
    for _ in range(FRAMES):
        shot = page.locator("section.panel").first.screenshot()
        frames.append(Image.open(io.BytesIO(shot)).convert("RGB").resize((860, 272)).quantize(64))
        page.wait_for_timeout(EVERY_MS)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=EVERY_MS, loop=0, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs")
