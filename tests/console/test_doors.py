"""How the console is asked for: where it listens, and by a request to a job that runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from windrow.cli.console import check_listen, console_of_job
from windrow.control import obey
from windrow.errors import ChangeError, SettingsError


@pytest.mark.parametrize("listen", ["localhost:http", "127.0.0.1:99999", ":-1"])
def test_a_port_that_is_none_is_refused_before_anything_starts(listen):
    with pytest.raises(SettingsError, match="is no port"):
        check_listen(listen)


def test_a_request_asks_a_job_for_what_its_owner_has_offered():
    job = SimpleNamespace(asked={"console": lambda request: {"link": f"http://{request['console']}"}}, queries=["q"])
    assert obey(job, {"console": "127.0.0.1:1"}) == {"link": "http://127.0.0.1:1"}  # type: ignore[arg-type]
    with pytest.raises(ChangeError, match="does not know what to do with"):
        obey(job, {"dance": 1})  # type: ignore[arg-type]


def test_where_no_job_runs_nothing_is_served(tmp_path):
    with pytest.raises(ChangeError, match="no job runs on this checkpoint"):
        console_of_job(str(tmp_path), "127.0.0.1:0")
