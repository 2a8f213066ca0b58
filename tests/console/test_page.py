"""The page in a browser, over sample streams: a wrong query underlined, mended, previewed, added, watched and dropped."""

from __future__ import annotations

import re

from console.browser import opened, until, written
from windrow.console.door import serve_backend
from windrow.console.of_replay import ReplayBackend

WRONG = "SELECT symbl, MAX(price) AS most\nFROM ticks [RANGE 4 SECONDS SLIDE 1 SECOND]\nGROUP BY symbol"


def test_a_query_is_written_mended_added_watched_paused_and_dropped():
    with opened(viewport={"width": 1280, "height": 860}) as page:
        backend = ReplayBackend()
        try:
            with serve_backend(backend, port=0) as server:
                page.goto(server.link)
                page.wait_for_selector("td >> text=vwap")
                assert page.locator(".pill.live").count() and "token" not in page.url
                page.keyboard.press("4")
                page.wait_for_selector(".cm-content")
                written(page, WRONG)
                page.wait_for_selector(".cm-lintRange-error")
                assert page.inner_text(".cm-lintRange-error") == "symbl"
                assert page.inner_text(".mistake").startswith("unknown column 'symbl' (line 1)")
                assert page.locator("button.main").is_disabled()
                written(page, WRONG.replace("symbl", "symbol"))
                until(
                    page,
                    lambda: (
                        not page.locator(".cm-lintRange-error").count() and page.locator("button.main").is_enabled()
                    ),
                )
                page.keyboard.press("Control+Enter")
                page.wait_for_selector("text=/rows from .* recent events/")
                assert page.locator("th:has-text('most')").count()
                page.fill("input[aria-label='Name of the query']", "tops")
                page.click("button.main")
                page.wait_for_url("**/#/query/tops")
                page.wait_for_selector("text=answers come in")
                first = batch(page)
                until(page, lambda: batch(page) > first)
                page.click("button:has-text('Pause')")
                page.wait_for_timeout(300)
                held = batch(page)
                page.wait_for_timeout(2500)
                assert batch(page) == held
                page.click("button:has-text('Go on')")
                until(page, lambda: batch(page) > held)
                page.goto(f"{server.url}/#/plan")
                page.wait_for_selector("g.node[aria-label='query tops']")
                page.click("g.node[aria-label='query tops']")
                assert "query tops" in page.inner_text("pre.detail")
                page.goto(f"{server.url}/#/query/tops")
                page.click("button:has-text('Drop')")
                page.wait_for_selector("dialog[open] >> text=answers no more")
                page.click("dialog button:has-text('Drop')")
                page.wait_for_selector("text=tops is dropped")
                assert "tops" not in backend.answers.names
            page.wait_for_selector(".pill.stale")
            page.wait_for_selector("text=The server does not answer")
        finally:
            backend.close()


def batch(page) -> int:
    page.wait_for_selector("text=/batch [0-9]+/")
    return int(re.search(r"batch (\d+)", page.inner_text("body"))[1])
