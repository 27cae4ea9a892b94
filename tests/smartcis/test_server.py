"""The real server: a 10 MB body, a broken request, and the socket, through uvicorn."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import PATIENCE_S, until

from tests.ports import free_port

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
    command += ["--no-proxy-headers", "--http", "h11"]
    command += ["--ws", "smartcis.live.slow_reader:SocketProtocol"]
    server = subprocess.Popen([sys.executable, *command, "--log-level", "error"], cwd=ROOT, env=env)
    try:
        until(lambda: answers(number), "the server answers")
        yield number
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE_S)


def answers(port):
    try:
        return ask(port, "GET", "/api/v1/status/")
    except OSError:
        return None


def ask(port, method, path, body=None, headers=None):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
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


def test_headers_without_end_are_refused_before_they_fill_the_memory(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with suppress(ConnectionError):  # whoever is refused is not heard out
            for _ in range(100):
                link.sendall(b"x" * 100_000)
        answer = b""
        with suppress(ConnectionError):
            answer = link.recv(64)
    assert not answer or answer.startswith(b"HTTP/1.1 400")
    assert ask(port, "GET", "/api/v1/me/")[0] == 200


def test_an_empty_house_says_what_to_do(port):
    status, _, answer = ask(port, "GET", "/api/v1/building/")
    assert status == 404
    assert "manage.py import_building PATH" in json.loads(answer)["try"]


def test_probes_answer_whatever_host_they_are_asked_by(port):
    strange = {"Host": "10.0.0.7"}
    assert ask(port, "GET", "/", headers=strange)[0] == 400
    status, _, body = ask(port, "GET", "/healthz", headers=strange)
    assert (status, json.loads(body)["alive"]) == (200, True)
    status, _, body = ask(port, "GET", "/readyz", headers=strange)
    said = json.loads(body)
    assert (status, said["ready"]) == (503, False)
    assert said["missing"]["engine"] == "the engine is offline"


def test_pages_and_docs_are_served(port):
    assert ask(port, "GET", "/")[0] == 200
    assert ask(port, "GET", "/api/docs/")[0] == 200
    assert ask(port, "GET", "/api/schema/")[0] == 200
    assert ask(port, "GET", "/nothing/")[0] == 404


def test_an_answer_has_the_id_under_which_the_log_speaks_of_it(port):
    given = ask(port, "GET", "/api/v1/me/", headers={"X-Request-ID": "from-the-front.7"})
    assert given[1]["X-Request-ID"] == "from-the-front.7"
    made = [ask(port, "GET", "/api/v1/me/")[1]["X-Request-ID"] for _ in range(2)]
    odd = ask(port, "GET", "/api/v1/me/", headers={"X-Request-ID": "a b\t{"})[1]["X-Request-ID"]
    assert len({*made, odd}) == 3
    assert all(len(one) == 16 for one in (*made, odd))


def test_what_views_ask_for_later_goes_to_the_products_own_broker(tmp_path):
    env = os.environ | {"REDIS_URL": "redis://broker.example:6379/0", "SMARTCIS_VAR": str(tmp_path)}
    program = (
        "import smartcis.asgi; from celery import current_app as app; print(app.conf.broker_url)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ended.stdout.split()[-1].startswith("redis://broker.example")
