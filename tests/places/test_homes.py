"""Every kind of place does the same: what is read is what was written whole, listed is what is there, and one creates."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.places.place import Place

from .stores import new_folder, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    with s3_server() as known:
        yield known


@pytest.fixture(params=["local", "memory", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    kind = request.param
    return new_folder(kind, tmp_path, request.getfixturevalue("s3") if kind == "s3" else None)


NAMES = st.sampled_from(["a", "b c", "50%", "k=ü", "x.json"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.binary(max_size=9)),
        st.tuples(st.just("create"), NAMES, st.binary(max_size=9)),
        st.tuples(st.just("move"), NAMES, NAMES),
        st.tuples(st.just("delete"), NAMES, st.just(b"")),
    ),
    max_size=12,
)


@pytest.mark.parametrize("kind", ["local", "memory"])
@given(steps=STEPS)
def test_a_folder_is_what_its_writers_have_made_of_it(tmp_path_factory, kind: str, steps):
    """Compared with a dictionary; S3, which is slower, does it once below."""
    changed(new_folder(kind, tmp_path_factory.mktemp("any")), steps)


@settings(max_examples=3)
@given(steps=STEPS)
def test_so_is_one_in_a_bucket(s3: dict[str, str], tmp_path_factory, steps):
    changed(new_folder("s3", tmp_path_factory.mktemp("any"), s3), steps)


def changed(folder: Place, steps) -> None:
    folder.make_folder()
    below, held = folder / "below it", dict[str, bytes]()
    below.make_folder()
    for step, name, value in steps:
        place = below / name
        match step:
            case "write":
                place.write(value)
                held[name] = value
            case "create":
                assert place.create(value) == (name not in held)
                held.setdefault(name, value)
            case "move" if name in held and name != value:
                place.move(below / value)
                held[value] = held.pop(name)
            case "delete":
                place.delete()
                held.pop(name, None)
        assert {place.name: place.read() for place in below.entries()} == held
    assert {folder.at(file).name: file.size for file in folder.files_below()} == {k: len(v) for k, v in held.items()}
    assert all((below / name).is_file() and not (below / name).is_folder() for name in held)
    if held:
        assert folder.names() == ["below it"] and below.is_folder() and not below.is_file()
    folder.delete_folder()
    folder.delete_folder()
    assert not folder.exists() and below.names() == []


def test_of_several_that_create_at_once_one_does(folder: Place):
    folder.make_folder()
    place = folder / "one"
    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(lambda number: place.create(str(number).encode()), range(16)))
    assert created.count(True) == 1 and place.read() == str(created.index(True)).encode()


def test_what_is_not_there_is_nothing_or_an_error_by_name(folder: Place):
    nowhere = folder / "nowhere"
    assert not nowhere.exists() and nowhere.names() == [] and nowhere.files_below() == []
    nowhere.delete()
    for ask in (nowhere.read, nowhere.modified):
        with pytest.raises(FileNotFoundError):
            ask()


def test_a_place_may_be_sent_to_tasks_and_shows_no_secret(folder: Place):
    folder.make_folder()
    (folder / "x").write(b"1")
    sent = pickle.loads(pickle.dumps(folder / "x"))
    assert sent.read() == b"1" and "secret" not in repr(sent) + str(sent)
    folder.delete_folder()


def test_spark_is_told_s3a_whatever_a_user_writes(s3: dict[str, str], tmp_path: Path):
    place = new_folder("s3", tmp_path, s3)
    assert place.for_spark == str(place) and place.for_spark.startswith("s3a://")
