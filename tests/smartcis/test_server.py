"""The real server: a 10 MB body, a broken request, and the socket, through uvicorn."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smartcis.services.embedded_redis import free_port

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def port(redis_url, tmp_path_factory):
    var = tmp_path_factory.mktemp("var")
    env = os.environ | {
        "SMARTCIS_VAR": str(var),
        "REDIS_URL": redis_url,
        "SMARTCIS_NAME": "server",
    }
    env.pop("DATABASE_URL", None)
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=env, check=True)
    number = free_port()
    command = ["-m", "uvicorn", "smartcis.asgi:application", "--port", str(number)]
    server = subprocess.Popen([sys.executable, *command, "--log-level", "error"], cwd=ROOT, env=env)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                ask(number, "GET", "/api/v1/status/")
                break
            except OSError:
                time.sleep(0.1)
        yield number
    finally:
        server.terminate()
        server.wait(timeout=10)


def ask(port, method, path, body=None, headers=None):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    link.request(method, path, body, headers or {})
    answer = link.getresponse()
    return answer.status, answer.headers, answer.read()


@pytest.mark.parametrize("chunked", [False, True])
def test_ten_megabytes_are_refused_and_the_server_lives(port, chunked):
    body = b"[" + b"7," * 5_000_000 + b"7]"
    sent = iter([body[i : i + 65_536] for i in range(0, len(body), 65_536)]) if chunked else body
    status, headers, answer = ask(
        port, "POST", "/api/v1/readings/", sent, {"Content-Type": "application/json"}
    )
    assert status == 413
    assert headers["Content-Type"] == "application/problem+json"
    fields = json.loads(answer)
    assert fields["code"] == "smartcis.api.body_too_large"
    assert fields["found"] == "10000003 bytes"
    assert ask(port, "GET", "/api/v1/me/")[0] == 200


def test_an_empty_house_says_what_to_do(port):
    status, _, answer = ask(port, "GET", "/api/v1/building/")
    assert status == 404
    assert json.loads(answer)["try"] == "manage.py import_building"


def test_pages_and_docs_are_served(port):
    assert ask(port, "GET", "/")[0] == 200
    assert ask(port, "GET", "/api/docs/")[0] == 200
    assert ask(port, "GET", "/api/schema/")[0] == 200
    assert ask(port, "GET", "/nothing/")[0] == 404
