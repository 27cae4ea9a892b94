"""Log lines: one object a line, whoever speaks, with what joins them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEAKERS = """
import logging
import django
django.setup()
import structlog
from structlog.contextvars import bound_contextvars
with bound_contextvars(request="r1"):
    structlog.get_logger().info("query_registered", query="q1", view="v1")
    logging.getLogger("aspen.spark.engine").debug("epoch", extra={"epoch": 7, "position": 9})
    try:
        1 / 0
    except ZeroDivisionError:
        logging.getLogger("django").exception("it failed: %s", "so")
        logging.getLogger("django.security.DisallowedHost").error("not here", exc_info=True)
"""


def test_every_line_is_an_object_with_the_request(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SPEAKERS],
        cwd=ROOT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "smartcis.settings",
            "SMARTCIS_VAR": str(tmp_path),
            "SMARTCIS_LOG_FORMAT": "json",
            "SMARTCIS_LOG_LEVEL": "DEBUG",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    query, epoch, failed, refused = [line for line in lines if line.get("request") == "r1"]
    assert (query["event"], query["query"], query["view"]) == ("query_registered", "q1", "v1")
    assert (epoch["event"], epoch["epoch"], epoch["position"]) == ("epoch", 7, 9)
    assert "ZeroDivisionError" in failed["exception"]
    assert failed["event"] == "it failed: so"
    assert refused["event"] == "not here"
    assert "exception" not in refused  # a line for each request that names another host
    assert all(line["level"] and line["timestamp"] for line in lines)
