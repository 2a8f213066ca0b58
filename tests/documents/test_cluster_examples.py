"""The Dockerfile and the manifest of docs/cluster.md fit together, and name what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windrow.cli.main import app

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "cluster"
KNOWN = {"ARG", "FROM", "USER", "RUN", "COPY", "ENV", "WORKDIR"}


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^\s*#.*\n", "", (FOLDER / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = filter(None, (line.strip() for line in text.replace("\\\n", " ").splitlines()))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def manifest() -> dict[str, dict]:
    yaml = pytest.importorskip("yaml")
    return {document["kind"]: document for document in yaml.safe_load_all((FOLDER / "windrow.yaml").read_text())}


def test_the_image_is_made_of_files_that_are_there_and_runs_as_no_root():
    read = instructions()
    assert {word for word, _ in read} <= KNOWN
    assert [word for word, _ in read][:2] == ["ARG", "FROM"]
    for word, rest in read:
        if word == "COPY":
            assert all((ROOT / name).exists() for name in rest.split()[:-1])
    assert [rest for word, rest in read if word == "USER"][-1] == "spark"


def test_the_driver_runs_a_command_that_windrow_has_with_options_that_it_knows():
    (container,) = manifest()["Deployment"]["spec"]["template"]["spec"]["containers"]
    program, command, _ = container["command"]
    told = CliRunner().invoke(app, [command, "--help"], terminal_width=200)
    assert program == "windrow" and told.exit_code == 0
    assert {argument.partition("=")[0] for argument in container["args"]} <= set(re.findall(r"--[\w-]+", told.stdout))


def test_the_parts_of_the_manifest_name_each_other():
    parts = manifest()
    assert set(parts) == {"ServiceAccount", "Role", "RoleBinding", "Service", "Deployment"}
    spec = parts["Deployment"]["spec"]["template"]["spec"]
    account = parts["ServiceAccount"]["metadata"]["name"]
    assert spec["serviceAccountName"] == parts["RoleBinding"]["subjects"][0]["name"] == account
    assert parts["RoleBinding"]["roleRef"]["name"] == parts["Role"]["metadata"]["name"]
    labels = parts["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert parts["Service"]["spec"]["selector"] == labels == parts["Deployment"]["spec"]["selector"]["matchLabels"]
    (container,) = spec["containers"]
    options = dict(
        argument.removeprefix("--set=").split("=", 1) for argument in container["args"] if "--set" in argument
    )
    assert options["spark.driver.host"] == parts["Service"]["metadata"]["name"]
    ports = {str(port["port"]) for port in parts["Service"]["spec"]["ports"]}
    assert ports == {options["spark.driver.port"], options["spark.driver.blockManager.port"]}
    assert options["spark.kubernetes.container.image"] == container["image"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
