"""Every kind of mistake in a script: exit code 2, the place, the words underlined, the way out, and nothing written."""

from __future__ import annotations

import logging
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from tick_files import QUERY, SINK, STREAM, placed, write_ticks
from typer.testing import CliRunner, Result

from windrow.cli import mistakes
from windrow.cli.main import app
from windrow.spark.job.hold import Hold
from windrow.spark.launch import _end_at_once

TABLE = "CREATE TABLE names USING csv OPTIONS (path 'names.csv', header 'true');\n"

MISTAKES = {
    "a typo in a window": (
        STREAM + QUERY.replace("[RANGE", "[RANG"),
        ["but found 'RANG' (line 5, column 13)", "              ^^^^\n", "hint: did you mean RANGE?"],
    ),
    "a typo in a statement": (
        STREAM + QUERY.replace("SELECT", "SELEC"),
        ["unknown statement 'SELEC' (line 4, column 1)", "  ^^^^^\n", "hint: did you mean SELECT?"],
    ),
    "an unknown stream": (
        STREAM + QUERY.replace("FROM ticks", "FROM trades"),
        ["unknown stream 'trades' (line 5, column 6)", "       ^^^^^^\n", "hint: known streams: ticks"],
    ),
    "an unknown column": (
        STREAM + QUERY.replace("SUM(price", "SUM(prise"),
        ["unknown column 'prise' (line 4, column 20)", "                     ^^^^^\n", "hint: did you mean price?"],
    ),
    "an unknown function": (
        STREAM + QUERY.replace("SUM(price", "SUM(sqrtt(price)"),
        ["sqrtt", "(line 4, column 20)", "                     ^^^^^"],
    ),
    "a text to be summed": (
        STREAM + QUERY.replace("SUM(volume)", "SUM(symbol)"),
        ["SUM needs numbers", "(line 4, column 42)", " ^^^^^^\n", "hint: CAST"],
    ),
    "a path where nothing is": (
        (STREAM + QUERY).replace("path 'ticks'", "path 'nowhere'"),
        ["there is nothing at", "nowhere' (line 2, column 32)", " ^^^^^^^", "hint: a path"],
    ),
    "a negative range": (
        STREAM + QUERY.replace("RANGE 1", "RANGE -1"),
        ["a range must be positive (line 5, column 19)", "                    ^^^^^^^^^\n"],
    ),
    "a window on a table": (
        STREAM + TABLE + QUERY.replace("FROM ticks", "FROM names"),
        ["'names' is a table", "(line 6, column 6)", "       ^^^^^", "hint: "],
    ),
    "a second query for a sink, without a name": (
        STREAM + SINK + QUERY + "INSERT INTO vwap\n" + QUERY,
        ["sink 'vwap' has a query already", "(line 9, column 13)", "hint: INSERT INTO vwap AS name SELECT ..."],
    ),
    "queries of other columns in one sink": (
        STREAM
        + SINK
        + QUERY
        + "INSERT INTO vwap AS other\n"
        + QUERY.replace("COUNT(*) AS trades", "MAX(price) AS best"),
        [
            "the rows of 'other' cannot be in one file with those of 'vwap': column 5 is best double here, and trades"
            " int64 there (line 10, column 1)",
            "hint: the same columns and types, or another sink",
        ],
    ),
    "folders by a column that is not there": (
        STREAM + SINK.replace("'out/vwap'", "'out/vwap', partitionBy 'day'") + QUERY,
        ["partitionBy names 'day', which is no column (line 4, column", "^^^^^^^^^^^\n"],
    ),
    "a key that is not there": (
        STREAM
        + "CREATE SINK vwap USING delta OPTIONS (path 'out/vwap', holds 'answer', key 'day');\nINSERT INTO vwap\n"
        + QUERY.replace(";", " EMIT CHANGES;"),
        ["key 'day' is no column of the query (line 4, column", "^^^\n", "hint: its columns: "],
    ),
    "two sinks of one name": (
        STREAM + "CREATE SINK vwap USING console;\n" + SINK + QUERY,
        [
            "two sinks are named 'vwap' (line 5, column 13)",
            "              ^^^^\n",
            "hint: give one of them another name",
        ],
    ),
    "a sink that is not declared": (
        STREAM + SINK + QUERY + "INSERT INTO vwop " + QUERY,
        ["unknown sink 'vwop' (line 9, column 13)", "              ^^^^\n", "hint: did you mean vwap?"],
    ),
    "a view of what is not there, that no query reads": (
        STREAM + "CREATE VIEW up AS SELECT * FROM tiks;\n" + QUERY,
        ["unknown stream 'tiks' (line 4, column 33)", " ^^^^\n", "hint: did you mean ticks?"],
    ),
    "a typo behind a variable": (
        "SET hours = 1000;\n" + STREAM + QUERY.replace("SUM(price", "SUM(${hours} * prise"),
        ["unknown column 'prise' (line 5, column 31)", "SUM(${hours} * prise", "^^^^^\n", "hint: did you mean price?"],
    ),
    "a sink into a file": (
        STREAM + (SINK + QUERY).replace("out/vwap", "names.csv"),
        ["is a file, and results go into a folder (line 4, column", "^^^^\n", "hint: name a folder"],
    ),
    "two sinks into one folder": (
        STREAM + SINK + QUERY + (SINK + QUERY).replace("SINK vwap", "SINK twice").replace("INTO vwap", "INTO twice"),
        ["sink 'vwap' writes to", "(line 9, column", "^^^^\n", "hint: give each sink a folder of its own"],
    ),
    "a function with a typo": (
        STREAM + QUERY.replace("SUM(volume)", "SUMM(volume)"),
        ["unknown function 'SUMM' (line 4", "^^^^", "hint: did you mean SUM?"],
    ),
    "a format that Spark has not": (
        STREAM + (SINK + QUERY).replace("parquet", "parqet"),
        ["Spark has no format 'parqet' (line 4, column 24)", " ^^^^^^\n", "hint: did you mean parquet?"],
    ),
    "a time that is none": (
        (STREAM + QUERY).replace("BY ts", "BY volume"),
        ["is INT, and a time is needed", "(line 3, column 16)", " ^^^^^^\n"],
    ),
    "a lateness without a time": (
        (STREAM + QUERY).replace("TIMESTAMP BY ts ", ""),
        ["LATENESS needs TIMESTAMP BY", "(line 3, column 3)", "    ^^^^^^^^\n", "hint: add TIMESTAMP BY and a column"],
    ),
    "an idle clock without a time": (
        (STREAM + QUERY).replace("TIMESTAMP BY ts LATENESS 2 SECONDS", "IDLE CLOCK"),
        ["IDLE CLOCK needs TIMESTAMP BY", "(line 3, column 3)", "    ^^^^\n", "hint: add TIMESTAMP BY and a column"],
    ),
    "a time of several events": (
        (STREAM + QUERY).replace("BY ts", "BY max(ts)"),
        ["MAX is no expression of one event", "(line 3, column 16)", " ^^^^^^^\n"],
    ),
    "a time by chance": (
        (STREAM + QUERY).replace("BY ts", "BY timestamp_seconds(CAST(rand() AS INT))"),
        ["RAND is another one each time", "(line 3, column 16)", " ^^^^^^^"],
    ),
    "an answer by chance": (
        STREAM + QUERY.replace("SUM(volume)", "SUM(volume * randn(1))"),
        ["RANDN is another one each time", "(line 4", "^^^^^", "hint: hash(...) of columns"],
    ),
    "a window of Spark's own": (
        STREAM + QUERY.replace("GROUP BY symbol", "GROUP BY symbol, window(ts, '1 minute')"),
        [
            "window(...) is read where FROM names one stream",
            "(line 6, column 18)",
            "hint: [RANGE 10 MINUTES SLIDE 1 MINUTE]",
        ],
    ),
    "a misspelt option of a stream": (
        STREAM.replace("maxFilesPerTrigger", "maxFilesPerTriger") + QUERY,
        [
            "no option 'maxFilesPerTriger' (line 2, column",
            "^^^^^^^^^^^^^^^^^\n",
            "hint: did you mean maxFilesPerTrigger?",
        ],
    ),
    "a misspelt option of a sink": (
        STREAM + (SINK + QUERY).replace("out/vwap'", "out/vwap', hold 'answer'"),
        ["parquet has no option 'hold' (line 4, column", "^^^^\n", "hint: did you mean holds?"],
    ),
    "a column that the files lack": (
        STREAM.replace("volume INT", "volume INT, venue STRING") + QUERY,
        ["no file has the column 'venue'", "(line 1, column 77)", "^^^^^^^^^^^^\n", "hint: "],
    ),
    "a column of a table that the file lacks": (
        STREAM + TABLE.replace("names USING", "names (symbol STRING, nome STRING) USING") + QUERY,
        ["no file has the column 'nome'", "(line 4, column 36)", "^^^^^^^^^^^\n", "hint: did you mean name?"],
    ),
    "an aggregate of everything": (
        STREAM + QUERY.replace("COUNT(*)", "COUNT(DISTINCT *)"),
        ["COUNT takes an expression, and this is * (line 4, column 74)", "hint: name a column"],
    ),
    "no query": (STREAM, ["the script has no query", "hint: SELECT"]),
}


@pytest.fixture
def place(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ticks and a table, to be in."""
    write_ticks(tmp_path / "ticks", files=1)
    (tmp_path / "names.csv").write_text("symbol,name\nALFA,Alfa\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(arguments: list[str], script: str | None = None) -> Result:
    if script is not None:
        Path("app.sql").write_text(placed(script, Path.cwd()))
    return CliRunner().invoke(app, arguments)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_mistake_is_shown_where_it_is_and_nothing_is_started(place: Path, mistake: str, command: str) -> None:
    script, words = MISTAKES[mistake]
    choices = ["--checkpoint", "checkpoint", "--available-now"] if command == "run" else []
    result = ended([command, "app.sql", *choices], script)
    assert result.exit_code == 2
    for part in words:
        assert part in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert {path.name for path in place.iterdir()} == {"app.sql", "names.csv", "ticks"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (QUERY.replace("SUM(price", "SUM(prise"), "unknown column 'prise' (line 4, column 20)"),
        (QUERY.replace("SUM(price", "SUM(soundex(symbol)"), "nowhere' (line 2, column 32)"),
        (QUERY, "nowhere' (line 2, column 32)"),
    ],
    ids=["a mistake", "what only Spark knows", "all else right"],
)
def test_a_script_is_checked_before_there_are_files(place: Path, query: str, words: str) -> None:
    """That there are none yet is told last; Spark is not started to be told the same."""
    result = ended(["check", "app.sql"], STREAM.replace("path 'ticks'", "path 'nowhere'") + query)
    assert result.exit_code == 2
    assert words in result.stderr and "starting Spark" not in result.output


WRONG_ARGUMENTS = {
    "a script that is not there": (["run", "nowhere.sql"], "nowhere.sql cannot be read: no such file"),
    "an option without a value": (["run", "app.sql", "--set", "shards"], "an option and its value are needed"),
    "an option that is neither": (["run", "app.sql", "--set", "shard=2"], "there is no option 'shard'"),
    "shards that are no number": (["run", "app.sql", "--set", "shards=two"], "shards is a whole number from 1"),
    "a trigger that is no time": (["run", "app.sql", "--trigger", "5 secnds"], "hint: did you mean SECONDS?"),
    "a negative trigger": (["run", "app.sql", "--trigger", "-5 seconds"], "cannot be negative"),
    "a flush of an endless input": (["run", "app.sql", "--flush"], "goes with --available-now"),
    "two triggers": (["run", "app.sql", "--available-now", "--trigger", "1 second"], "exclude each other"),
    "a checkpoint that is a file": (["run", "app.sql", "--checkpoint", "app.sql"], "is not a folder"),
    "an unknown demo": (["demo", "weather"], "there is no demo 'weather'; demos: ticks"),
    "an unknown benchmark": (["bench", "nothing"], "there is no benchmark 'nothing'"),
    "an unknown option": (["run", "app.sql", "--nonsense"], "No such option: --nonsense"),
}


@pytest.mark.parametrize("case", WRONG_ARGUMENTS)
def test_a_wrong_argument_is_named(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = WRONG_ARGUMENTS[case]
    result = ended(arguments, STREAM + QUERY)
    assert result.exit_code == 2
    assert words in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["app.sql"]


def test_a_second_job_on_a_checkpoint_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hold = Hold("checkpoint")
    hold.take()
    try:
        result = ended(["run", "app.sql", "--checkpoint", "checkpoint"], STREAM + QUERY)
    finally:
        hold.release()
    assert result.exit_code == 2
    assert f"a job runs on the checkpoint checkpoint already: process {os.getpid()} on " in result.stderr
    assert "hint: stop it first, or start with another checkpoint" in result.stderr


@pytest.mark.parametrize("ends", [True, False])
def test_an_interrupted_spark_is_gone_before_its_temporary_files_are(ends: bool) -> None:
    done: list[str] = []

    def wait(seconds: float) -> None:
        done.append("waited")
        if not ends:
            raise subprocess.TimeoutExpired("java", seconds)

    process = SimpleNamespace(
        stdin=SimpleNamespace(close=lambda: done.append("closed")), wait=wait, kill=lambda: done.append("killed")
    )
    server = SimpleNamespace(handle_error=lambda request, client: done.append("printed"))
    context = SimpleNamespace(_gateway=SimpleNamespace(proc=process), _accumulatorServer=server)
    _end_at_once(SimpleNamespace(sparkContext=context))  # type: ignore[arg-type]
    server.handle_error(None, None)  # as PySpark does when the JVM is gone
    assert done == ["closed", "waited"] + ([] if ends else ["killed"])


def test_ctrl_c_while_spark_is_asked_leaves_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """py4j logs the interrupt with its trace before it hands it on; other words of a log are heard."""

    def ended(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(mistakes.os, "_exit", ended)
    with pytest.raises(SystemExit) as left, mistakes.user_errors():
        logging.warning("of something else")
        logging.error("KeyboardInterrupt while sending command.")
        raise KeyboardInterrupt
    assert left.value.code == 130 and capsys.readouterr().err == "stopped at once\n"
    assert [record.getMessage() for record in caplog.records] == ["of something else"]
    logging.error("KeyboardInterrupt while sending command.")
    assert len(caplog.records) == 2
