"""The line by which a failure is reported: what Python raised in a worker, not that a job ended."""

from __future__ import annotations

import pytest

from aspen.results.engine_status import read_status
from aspen.spark.engine import Engine, failure_line

THROUGH_SPARK = """An exception was raised by the Python Proxy. Return Message: Traceback
  File "sink.py", line 66, in __call__
    lanes = batch.collect()
pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "worker.py", line 4327, in invoke_udf
    run_process()
FileNotFoundError: [Errno 2] No such file or directory: '/srv/smartcis/sock'

	at org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:1)
org.apache.spark.SparkException: Job aborted due to stage failure
"""


def test_what_a_worker_raised_is_found_in_sparks_text():
    found = failure_line(RuntimeError(THROUGH_SPARK))
    assert found == "FileNotFoundError: [Errno 2] No such file or directory: '/srv/smartcis/sock'"


def test_other_failures_are_reported_by_their_first_line():
    assert failure_line(RuntimeError("no Java\nsecond line")) == "no Java"
    assert failure_line(RuntimeError("x" * 999)) == "x" * 300
    assert failure_line(KeyError()) == "KeyError"


def test_the_status_says_what_ended_the_engine(config, monkeypatch):
    def work(_engine):
        raise RuntimeError("no Java")

    monkeypatch.setattr(Engine, "_work", work)
    engine = Engine(config, lambda *_, **__: None)
    with pytest.raises(RuntimeError):
        engine.run()
    status = read_status(engine._redis, config.results_name)
    assert (status.state, status.error) == ("failed", "no Java")
