"""Requests to a job: whatever lies in their folder, the job reads on and who asks is told."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windrow.cli.main import app
from windrow.errors import ChangeError, SettingsError
from windrow.spark.job.job_requests import LARGEST, JobRequests, Listener, Request

from .streams import until


def obey(request: Request) -> Request:
    match request:
        case {"list": _}:
            return {"queries": ["sums"]}
        case {"fail": str(kind)}:
            raise {"foreign": ZeroDivisionError, "deep": RecursionError}[kind]("by zero")
    raise ChangeError(f"the job does not know what to do with {sorted(request)}")


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    listening = Listener(str(tmp_path), obey, lambda: True)
    yield listening
    listening.end()


def a_folder(place: Path) -> None:
    place.mkdir()
    (place / "inside").touch()


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_huge_file(place: Path) -> None:
    with open(place, "wb") as file:
        file.truncate(LARGEST + 1)


def unreadable(place: Path) -> None:
    place.symlink_to("/dev/zero")


def text(content: str | bytes) -> Callable[[Path], None]:
    return lambda place: place.write_bytes(content if isinstance(content, bytes) else content.encode()) and None


BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "nothing": (text(""), "it is no JSON"),
    "half a request": (text('{"add": "SEL'), "it is no JSON"),
    "a list": (text("[1, 2]"), "it is no JSON object"),
    "a number": (text("7"), "it is no JSON object"),
    "bytes": (text(b"\xff\x00\xfe"), "it is no JSON"),
    "a deep list": (text("[" * 200_000), "it is no JSON"),
    "a folder": (a_folder, "it is no file"),
    "a pipe": (a_pipe, "it is no file"),
    "a huge file": (a_huge_file, f"it is larger than {LARGEST} bytes"),
    "a link": (unreadable, "too many levels of symbolic links"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_request_is_answered_and_put_aside_and_the_next_one_is_read(
    listener: Listener, tmp_path: Path, kind: str
):
    make, told = BAD[kind]
    folder = tmp_path / "job.requests"
    (tmp_path / "made").mkdir()
    make(tmp_path / "made" / "it")
    os.rename(tmp_path / "made" / "it", folder / "0.request")
    assert JobRequests(str(tmp_path)).ask({"list": True}, 20)["queries"] == ["sums"]
    until((folder / "0.answer").exists)
    assert told in json.loads((folder / "0.answer").read_text())["error"]
    assert not os.path.lexists(folder / "0.request") and os.path.lexists(folder / "0.request.bad")


def test_a_request_that_cannot_be_put_aside_keeps_no_other_waiting(listener: Listener, tmp_path: Path):
    a_folder(tmp_path / "job.requests" / "0.request.bad")
    (tmp_path / "job.requests" / "0.request").write_text("no request")
    assert JobRequests(str(tmp_path)).ask({"list": True}, 20)["queries"] == ["sums"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"burn": 1, "all": 2}, "the job does not know what to do with ['all', 'burn']"),
        ({"fail": "foreign"}, "ZeroDivisionError: by zero"),
        ({"fail": "deep"}, "RecursionError"),
    ],
)
def test_a_request_that_fails_is_answered_with_why(listener: Listener, tmp_path: Path, asked: Request, told: str):
    assert told in JobRequests(str(tmp_path)).ask(asked, 20)["error"]
    assert JobRequests(str(tmp_path)).ask({"list": True}, 20)["queries"] == ["sums"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"host": "x"}', '{"host": "x", "process": "one"}'])
def test_a_damaged_note_of_who_reads_is_named(listener: Listener, tmp_path: Path, content: str):
    (tmp_path / "job.requests" / "reader.json").write_text(content)
    told = CliRunner().invoke(app, ["drop", str(tmp_path), "sums"])
    assert told.exit_code == 2
    assert "reader.json is damaged" in told.stderr and "hint: start the job again" in told.stderr
    assert "Traceback" not in told.output


def test_an_answer_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    requests = JobRequests(str(tmp_path))
    requests.open()
    monkeypatch.setattr("windrow.spark.job.job_requests.write_whole", lambda place, request: answer(place))

    def answer(place: str) -> None:
        Path(place.path).with_suffix(".answer").write_text("[7")

    with pytest.raises(ChangeError, match=r"the answer .* is none"):
        requests.ask({"list": True}, 20)


def test_a_process_that_is_gone_reads_no_requests(tmp_path: Path):
    requests = JobRequests(str(tmp_path))
    requests.open()
    gone = os.fork()
    if not gone:
        os._exit(0)
    os.waitpid(gone, 0)
    (tmp_path / "job.requests" / "reader.json").write_text(json.dumps({"host": socket.gethostname(), "process": gone}))
    with pytest.raises(ChangeError, match="no job runs on this checkpoint"):
        requests.ask({"list": True}, 20)


def test_requests_are_for_their_owner_only(listener: Listener, tmp_path: Path):
    folder = tmp_path / "job.requests"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_checkpoint_of_an_earlier_version_goes_on_without_its_folder_of_letters(tmp_path: Path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "reader.json").write_text(
        json.dumps({"host": socket.gethostname(), "process": os.getpid()})
    )
    requests = JobRequests(str(tmp_path))
    assert not requests.is_read()
    requests.open()
    assert requests.is_read() and [path.name for path in tmp_path.iterdir()] == ["job.requests"]


def test_a_folder_of_requests_that_cannot_be_had_is_named(tmp_path: Path):
    (tmp_path / "job.requests").write_text("a file")
    with pytest.raises(SettingsError, match="requests cannot be written: not a directory"):
        Listener(str(tmp_path), obey, lambda: True)


def test_a_file_of_queries_that_is_no_text_is_named(tmp_path: Path):
    (tmp_path / "more.sql").write_bytes(b"\xff\xfe\x00")
    told = CliRunner().invoke(app, ["add", str(tmp_path), str(tmp_path / "more.sql")])
    assert told.exit_code == 2 and "is not text in UTF-8" in told.stderr
