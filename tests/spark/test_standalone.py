"""The engine on a standalone cluster of its own: a master and two workers, as compose runs them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from spark import product
from spark.test_engine import ENVIRONMENT, HERE

from tests.ports import free_port

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
SCRIPT = Path(__file__).resolve().parents[2] / "docker" / "spark.sh"


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def master(tmp_path):
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    environment = {
        **ENVIRONMENT,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [[str(SCRIPT), "master", *common, "--port", str(port)]]
    for number in range(2):
        folder = str(tmp_path / f"worker{number}")
        commands.append([str(SCRIPT), "worker", *common, "-c", "1", "-m", "1g", "-d", folder, url])
    with (tmp_path / "cluster.out").open("wb") as output:
        started = []
        for command in commands:
            started.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
            product.until(lambda: answers(port), "the master listens")
        yield url
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def test_two_workers_of_a_standalone_cluster_give_the_same_views(
    master, config, feed, results, tmp_path
):
    program = tmp_path / "config.json"
    program.write_text(
        json.dumps([config.log_url, config.log_name, str(config.checkpoint), master, 2])
    )
    command = [sys.executable, str(HERE / "driver.py"), str(program)]
    driver = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True)
    try:
        feed.more(60, pause_s=0.05)
        product.check(feed, results)
        time.sleep(0.5)
        feed.more(20)
        product.check(feed, results)
    finally:
        driver.send_signal(signal.SIGTERM)
        driver.wait(60)
