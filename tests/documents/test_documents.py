"""What README and docs print is run."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from windrow.language import parse_script, to_sql

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


SQL = [(document.name, text) for document in DOCUMENTS for text in blocks(document, "sql")]
PYTHON = [document for document in DOCUMENTS if blocks(document, "python")]
LINKS = [(document, link) for document in DOCUMENTS for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text())]


@pytest.mark.parametrize(("name", "text"), SQL)
def test_every_sql_block_reads_and_round_trips(name, text):
    for statement in parse_script(text):
        assert parse_script(to_sql(statement)) == (statement,)


@pytest.mark.parametrize(("document", "link"), LINKS)
def test_every_link_leads_somewhere(document, link):
    assert (document.parent / link).exists()


@pytest.mark.parametrize("document", PYTHON, ids=lambda document: document.name)
def test_every_python_block_runs(document, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begin = datetime(2024, 1, 1, 9, tzinfo=UTC)
    count = 300
    ticks = {
        "ts": [begin + timedelta(seconds=i) for i in range(count)],
        "symbol": [f"S{i % 5}" for i in range(count)],
        "price": [50.0 + i % 7 for i in range(count)],
        "volume": pa.array([1 + i % 9 for i in range(count)], pa.int32()),
    }
    Path("data/ticks").mkdir(parents=True)
    pq.write_table(pa.table(ticks), "data/ticks/1.parquet")
    names: dict = {"windrow": windrow, "spark": spark}
    for text in blocks(document, "python"):
        text = re.sub(r'"(data/|out/|checkpoint")', rf'"{tmp_path}/\1', text)  # the JVM has a folder of its own
        exec(compile(text, document.name, "exec"), names)
