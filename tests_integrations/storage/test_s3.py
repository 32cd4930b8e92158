"""Runs, agents and results kept in S3, in a server of moto's on this machine; Ray workers."""

from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer
from tests.training.test_storage import (
    check_a_run_goes_on_elsewhere,
    check_commands_take_urls,
    check_runs_share_urls,
)


def test_runs_and_commands_use_s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3").create_bucket(Bucket="bucket")
    check_a_run_goes_on_elsewhere("s3://bucket/runs", tmp_path, monkeypatch)
    check_commands_take_urls("s3://bucket/things", tmp_path, "ray")
    check_runs_share_urls("s3://bucket/shared", tmp_path, "--executor", "ray", "--workers", "2")
    server.stop()
