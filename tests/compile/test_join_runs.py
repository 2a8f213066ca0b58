"""Which queries run together: in as few runs as there can be, and each where a checkpoint has it, whatever comes and goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windrow.compile.join_runs import join_runs
from windrow.places.place import place_of
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.run_names import run_name
from windrow.plan.nodes.stage import AnyQuery
from windrow.spark.job.file_names import folder_of
from windrow.spark.job.runs_there import runs_there


def query(name: str, stages: int, *streams: str) -> AnyQuery:
    return ChangePlan(name, streams or ("a",), None, "CHANGES", stages=stages)  # type: ignore[arg-type]


def runs(*queries: AnyQuery, checkpoint: Path | None = None, running: tuple[str, ...] = ()) -> dict[str, str]:
    there = (lambda _: ()) if checkpoint is None else runs_there(place_of(checkpoint), running)
    return {name: query.run for name, query in join_runs({query.name: query for query in queries}, there).items()}


def begin(checkpoint: Path, *names: str) -> None:
    """As if a batch of each run had begun."""
    for run in names:
        logs = Path(folder_of(checkpoint, run).path) / "spark" / "offsets"
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "0").touch()


def test_a_new_job_has_one_run_for_all_queries_over_the_same_streams():
    found = runs(query("x", 1), query("y", 3), query("z", 2), query("b", 1, "b"), query("both", 2, "a", "b"))
    assert found == dict.fromkeys("xyz", "changes-3-a") | {"b": "b", "both": "changes-2-a+b"}


def test_a_checkpoint_that_has_a_run_for_each_number_of_stages_keeps_them(tmp_path: Path):
    begin(tmp_path, "a", "changes-2-a", "changes-4-a")
    found = runs(query("x", 1), query("y", 2), query("new", 3), query("z", 4), checkpoint=tmp_path)
    assert found == {"x": "a", "y": "changes-2-a", "new": "changes-4-a", "z": "changes-4-a"}
    assert runs(query("more", 5), query("most", 6), checkpoint=tmp_path) == dict.fromkeys(
        ("more", "most"), "changes-6-a"
    )
    assert runs(query("other", 2, "b"), checkpoint=tmp_path) == {"other": "changes-2-b"}


def test_a_run_that_has_never_begun_a_batch_is_none_unless_it_runs(tmp_path: Path):
    (tmp_path / "changes-5-a" / "control").mkdir(parents=True)
    (tmp_path / "windrow.json").touch()
    assert runs(query("x", 2), checkpoint=tmp_path) == {"x": "changes-2-a"}
    assert runs(query("x", 2), checkpoint=tmp_path, running=("changes-5-a",)) == {"x": "changes-5-a"}
    assert runs(query("x", 2), checkpoint=tmp_path / "none") == {"x": "changes-2-a"}


@pytest.mark.parametrize("streams", [("a",), ("A", "b+c"), ("3-a",), ("long" * 40, "z"), ("letters",)])
def test_a_run_is_found_whatever_its_streams_are_called(tmp_path: Path, streams: tuple[str, ...]):
    begin(tmp_path, run_name(streams, 4), run_name(("a", "3-a"), 3))
    assert runs(query("x", 2, *streams), checkpoint=tmp_path) == {"x": run_name(streams, 4)}


STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "add", "drop"]), st.lists(st.integers(1, 6), min_size=1, max_size=3)),
    max_size=12,
)


@given(st.sets(st.integers(1, 5)), STEPS)
@example(set(), [("start", [1]), ("add", [3]), ("add", [2]), ("drop", [1]), ("start", [4, 5, 1])])
def test_a_query_stays_in_its_run_whatever_comes_and_goes(
    tmp_path_factory: pytest.TempPathFactory, old: set[int], steps: list[tuple[str, list[int]]]
):
    """`old` are stages of queries from the time when each number of them had a run of its own."""
    checkpoint = tmp_path_factory.mktemp("checkpoint")
    begin(checkpoint, *(run_name(["a"], stages) for stages in old))
    asked = [query(f"old {stages}", stages) for stages in old]
    placed = {own.name: own.run for own in asked}
    for step, numbers in steps:
        if step == "drop":
            asked = asked[len(numbers) :]
            continue
        for stages in numbers:
            asked.append(query(f"{len(placed)} {stages} {len(asked)}", stages))
            if step == "add":
                there = runs_there(place_of(checkpoint), placed.values())
                (came,) = join_runs({asked[-1].name: asked[-1]}, there).values()
                placed[came.name] = came.run
                begin(checkpoint, came.run)
        if asked:
            found = runs(*asked, checkpoint=checkpoint)
            assert {name: run for name, run in found.items() if name in placed} == {
                own.name: placed[own.name] for own in asked if own.name in placed
            }
            placed |= found
            begin(checkpoint, *found.values())
            assert all(
                int(placed[own.name].removeprefix("changes-").partition("-")[0]) >= own.stages
                for own in asked
                if own.stages > 1
            )
