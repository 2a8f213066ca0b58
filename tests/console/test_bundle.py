"""The page in the package is the one that its sources make, small, and takes nothing from elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

from windrow.console.door import STATIC

SOURCES = Path(__file__).parents[2] / "console"
LARGEST = 700_000


def test_the_bundle_was_built_from_these_sources():
    files = [SOURCES / name for name in ("index.html", "package-lock.json", "vite.config.js")]
    files += [path for path in (SOURCES / "src").rglob("*") if path.is_file()]
    total = hashlib.sha256()
    for name, path in sorted((path.relative_to(SOURCES).as_posix(), path) for path in files):
        total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    assert json.loads((STATIC / "sources.json").read_text())["sha256"] == total.hexdigest(), "run: make console"


def test_the_bundle_is_small_and_takes_nothing_from_elsewhere():
    files = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert sum(len(gzip.compress(content)) for content in files.values()) < LARGEST
    page = files["index.html"].decode()
    assert re.findall(r'(?:src|href)="([^"]+)"', page) and not re.findall(r'(?:src|href)="(?!/static/)', page)
    assert "<script>" not in page and not re.search(r"\son\w+=", page)
    named = {name.removeprefix("/static/") for name in re.findall(r'(?:src|href)="([^"]+)"', page)}
    assert named <= files.keys()
    packages = json.loads((SOURCES / "package.json").read_text())
    assert all(
        re.fullmatch(r"\d+\.\d+\.\d+", own)
        for kind in ("dependencies", "devDependencies")
        for own in packages[kind].values()
    )
