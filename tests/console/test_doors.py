"""How the console is asked for: where it listens, and by a request to a job that runs."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from windrow.cli.console import check_console, check_listen, console_of_job
from windrow.cli.main import app
from windrow.control import obey
from windrow.errors import ChangeError, SettingsError


@pytest.mark.parametrize("listen", ["localhost:http", "127.0.0.1:99999", ":-1"])
def test_a_port_that_is_none_is_refused_before_anything_starts(listen):
    with pytest.raises(SettingsError, match="is no port"):
        check_listen(listen)


def test_a_port_in_use_is_refused_before_spark_starts(tmp_path, monkeypatch):
    (tmp_path / "app.sql").write_text("SELECT 1")
    monkeypatch.setattr("windrow.cli.run.started", lambda launch: pytest.fail("Spark is started"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        told = CliRunner().invoke(app, ["run", str(tmp_path / "app.sql"), "--console", "--listen", address])
        assert told.exit_code == 2 and f"port {address.partition(':')[2]} is in use" in told.output
    check_console(address)  # which is free now


def test_a_place_for_a_console_that_nobody_asks_for_is_refused(tmp_path):
    told = CliRunner().invoke(app, ["run", str(tmp_path / "app.sql"), "--listen", "127.0.0.1:8180"])
    assert told.exit_code == 2 and "hint: --console" in told.output


def test_a_request_asks_a_job_for_what_its_owner_has_offered():
    job = SimpleNamespace(asked={"console": lambda request: {"link": f"http://{request['console']}"}}, queries=["q"])
    assert obey(job, {"console": "127.0.0.1:1"}) == {"link": "http://127.0.0.1:1"}  # type: ignore[arg-type]
    with pytest.raises(ChangeError, match="does not know what to do with"):
        obey(job, {"dance": 1})  # type: ignore[arg-type]


def test_where_no_job_runs_nothing_is_served(tmp_path):
    with pytest.raises(ChangeError, match="no job runs on this checkpoint"):
        console_of_job(str(tmp_path), "127.0.0.1:0")
