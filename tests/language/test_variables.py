"""Variables of a script: what they stand for, and what is refused."""

from __future__ import annotations

import pytest

from windrow.cli.launch import read_script
from windrow.errors import QueryError, SettingsError
from windrow.language import parse_script
from windrow.language.variables import with_variables

SCRIPT = """-- SET minutes = 3; ${unknown}
SET minutes = 10; SET folder = 'data/${day}';
CREATE STREAM s (ts TIMESTAMP) USING csv OPTIONS (path '${folder};x') TIMESTAMP BY ts;
SELECT COUNT(*) AS n FROM s [RANGE ${minutes} MINUTES SLIDE ${ minutes } MINUTES] -- ${unknown}
"""


def test_values_are_filled_in_everywhere_but_in_comments_and_lines_stay():
    filled = with_variables(SCRIPT, {"day": "monday"})
    assert "path 'data/monday;x'" in filled and "RANGE 10 MINUTES SLIDE 10 MINUTES] -- ${unknown}" in filled
    assert filled.count("\n") == SCRIPT.count("\n") and "SET" not in filled
    assert len(parse_script(filled)) == 2


def test_what_is_given_holds_whatever_set_says(tmp_path):
    path = tmp_path / "app.sql"
    path.write_text(SCRIPT)
    assert "RANGE 5 MINUTES" in read_script(path, ["minutes=5", "day=d"])
    with pytest.raises(SettingsError, match="--var minutes is no variable"):
        read_script(path, ["minutes"])


@pytest.mark.parametrize(
    "text, given, said",
    [
        ("SELECT ${m}", {}, r"unknown variable 'm' \(line 1, column 8\)[^~]*--var m="),
        ("SET minutes = 1; SELECT ${minuts}", {}, "did you mean minutes"),
        ("SELECT ${later}; SET later = 1", {}, "unknown variable 'later'"),
        ("SET a = ; SELECT 1", {}, "SET a has no value"),
        ("SELECT 1", {"a": "1"}, "stands in the script"),
    ],
)
def test_a_mistake_is_said_with_its_place(text, given, said):
    with pytest.raises((QueryError, SettingsError), match=said):
        with_variables(text, given)


WRITTEN = """SET minutes = 1000000; SET k = 'x';
SELECT ${k}, COUNT(*) AS n, '${k}${minutes}' AS t FROM s [RANGE ${minutes} MINUTS SLIDE 1 MINUTE]
WHERE ${k} > 2 ${minutes} GROUP BY y"""


@pytest.mark.parametrize(
    "replaced, by, underlined",
    [
        ("MINUTS", "MINUTS", "MINUTS"),
        ("MINUTS", "MINUTES", "${minutes}"),
        ("${minutes} GROUP", "GRUOP", "GRUOP"),
    ],
)
def test_a_mistake_behind_a_value_is_underlined_in_the_script_as_it_was_written(replaced, by, underlined):
    text = WRITTEN.replace(replaced, by)
    if by == "GRUOP":
        text = text.replace("MINUTS", "MINUTES")
    with pytest.raises(QueryError) as caught:
        parse_script(with_variables(text))
    error = caught.value
    assert error.text == text and text[error.at : error.end] == underlined
    line = text.splitlines()[error.line - 1]
    assert line[error.column - 1 :].startswith(underlined) and line in str(error)


def test_a_script_without_variables_is_the_same_text():
    text = "SELECT 1 -- ${no}"
    assert with_variables(text) is text


@pytest.mark.parametrize("text", ["SET my minutes = 1; SELECT 1", "SELECT 1; set", "/* all */ SET = 3"])
def test_set_without_a_name_is_said_where_it_stands(text):
    with pytest.raises(QueryError, match="SET takes a name and a value") as caught:
        with_variables(text)
    assert text[caught.value.at : caught.value.end].upper() == "SET"
