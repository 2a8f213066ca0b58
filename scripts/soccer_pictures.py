"""Pictures of the soccer example: game.png, and its page by headless Chromium, live.png and live_light.png.

    .venv/bin/python scripts/soccer_pictures.py [DIR]

It plays five minutes of a game, in this process.
"""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

EXAMPLE = Path(__file__).parents[1] / "examples" / "soccer"
SECONDS, PACE, SHOWN = 300, 4, 120
"""The page is drawn when so many seconds of the game are over."""


def main(folder: Path) -> None:
    """Leave the pictures in `folder`."""
    sys.path.insert(0, str(EXAMPLE))
    import live
    import picture

    chromium = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if chromium is None:
        sys.exit("there is no Chromium here: apt-get install chromium")
    game = live.Game(SECONDS)
    picture.draw(live.replayed(game.reader(), live.queries() | live.HITS), folder / "game.png")
    page = live.Page(0, PACE)
    threading.Thread(target=live.play, args=(game, page), daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        looks = {"live.png": "dark", "live_light.png": "light"}
        shown = {}
        for name, theme in looks.items():
            context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=theme)
            shown[name] = context.new_page()
            shown[name].goto(page.address)
        while page.newest < SHOWN:
            for each in shown.values():
                each.wait_for_timeout(500)
        for name, each in shown.items():
            each.screenshot(path=folder / name)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLE)
