"""CREATE and INSERT as other engines have them: refused where they differ, with what is written here."""

from __future__ import annotations

import pytest

from windrow.errors import QueryError
from windrow.language import parse_script

WRITTEN = {
    "CREATE MATERIALIZED VIEW v AS SELECT a FROM s": ("MATERIALIZED", "CREATE STREAM name AS"),
    "CREATE SOURCE s (a INT) WITH (connector = 'kafka')": ("SOURCE", "USING kafka"),
    "CREATE OR REPLACE VIEW v AS SELECT a FROM s": ("OR", "declares each name once"),
    "CREATE STREAM IF NOT EXISTS s (a INT) USING parquet": ("NOT", "declares each name once"),
    "CREATE TABLE s (ts TIMESTAMP(3), a INT) WITH ('connector' = 'kafka')": ("(", "TIMESTAMP, without"),
    "CREATE STREAM s (ts TIMESTAMP, a INT) WITH (KAFKA_TOPIC = 's')": ("WITH", "OPTIONS"),
    "CREATE STREAM s (a INT KEY, b INT) USING parquet": ("KEY", "a stream has no keys"),
    "CREATE TABLE t AS SELECT a FROM s": ("AS", "CREATE STREAM name AS"),
    "INSERT INTO s VALUES (1, 2)": ("VALUES", "INSERT INTO sink SELECT"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_statement_of_another_engine_is_refused_with_the_way_out(text):
    word, hint = WRITTEN[text]
    with pytest.raises(QueryError) as caught:
        parse_script(f"{text};")
    assert text[caught.value.at : caught.value.end] == word
    assert hint in (caught.value.hint or "")
