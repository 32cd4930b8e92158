"""The file for KubeRay of the docs, and the commands in it and on the page about clusters."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from linkzoo_training.commands.cli import make_parser
from linkzoo_training.config.config import load_config
from tests.packages import ROOT

KUBERAY = ROOT / "examples" / "cluster" / "kuberay.yaml"
PAGE = ROOT / "docs" / "tutorials" / "cluster.md"


def kuberay() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(KUBERAY.read_text(encoding="utf-8"))
    return data


def train_commands() -> list[str]:
    """The `linkzoo train` commands of the file and the page, without line ends."""
    page = re.sub(r"\s*\\\n\s*", " ", PAGE.read_text(encoding="utf-8"))
    commands = re.findall(r"(linkzoo train .*?)(?:\s{2,}#.*)?\n", page)
    return [kuberay()["spec"]["entrypoint"], *commands]


@pytest.mark.parametrize("command", train_commands())
def test_its_commands_are_right(command: str) -> None:
    args = make_parser().parse_args(shlex.split(command)[1:])
    config = load_config(args.config, args.settings)
    assert config.parts is not None
    assert config.num_envs % config.parts == 0
    assert config.parts >= args.workers


def test_the_file_for_kuberay() -> None:
    """Its pods have a CPU for each worker, and a token."""
    spec = kuberay()["spec"]
    cluster = spec["rayClusterSpec"]
    (group,) = cluster["workerGroupSpecs"]
    pods = [cluster["headGroupSpec"], group]
    (head,), (worker,) = (pod["template"]["spec"]["containers"] for pod in pods)
    workers = int(re.findall(r"--workers (\d+)", spec["entrypoint"])[0])
    assert workers == group["maxReplicas"] * int(worker["resources"]["limits"]["cpu"])
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert cluster["authOptions"] == {"mode": "token"}
    assert head["image"] == worker["image"]


@pytest.mark.skipif("KUBERAY_CRD" not in os.environ, reason="KubeRay's ray.io_rayjobs.yaml")
def test_it_fits_the_schema_of_kuberay() -> None:
    """Every field is known: a wrong name is an error."""
    jsonschema = pytest.importorskip("jsonschema")
    crd = yaml.safe_load(Path(os.environ["KUBERAY_CRD"]).read_text(encoding="utf-8"))
    (version,) = [entry for entry in crd["spec"]["versions"] if entry["name"] == "v1"]
    text = json.dumps(version["schema"]["openAPIV3Schema"])
    strict = '"additionalProperties": false, "properties": {'
    schema = json.loads(text.replace('"properties": {', strict))
    schema["properties"]["metadata"] = {"type": "object"}
    jsonschema.validate(kuberay(), schema)
