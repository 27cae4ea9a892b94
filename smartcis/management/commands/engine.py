"""Run the engine: `manage.py engine`."""

from __future__ import annotations

import logging
import os
import select
import signal
import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from redis.exceptions import RedisError

from aspen.results.engine_status import ALONE_AFTER_S, supervised
from aspen.spark.config import EngineConfig
from aspen.spark.engine import Ending, Engine, LeaseTaken
from smartcis.composition import server
from smartcis.services.child import end_when
from smartcis.services.engine_supervisor import BEGIN, STANDBY, SUPERVISED

PATIENCE_S = 8.0
LOOK_S = 0.5

logger = structlog.get_logger("engine")


class Command(BaseCommand):
    help = "Keep every maintained view: one Spark Structured Streaming query over the log."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(SUPERVISED, action="store_true", help="end once no supervisor is left")
        parser.add_argument(
            STANDBY,
            action="store_true",
            help=f'make everything ready, and work once "{BEGIN}" comes in on standard input',
        )
        parser.add_argument(
            "--lanes",
            type=int,
            default=settings.ENGINE_LANES,
            help="how many lanes share the views; may differ from last time",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        logging.getLogger("py4j").setLevel(logging.WARNING)
        config = EngineConfig(
            log_url=settings.REDIS_URL,
            log_name=settings.LOG_NAME,
            results_url=settings.REDIS_URL,
            results_name=settings.RESULTS_NAME,
            checkpoint=settings.ENGINE_CHECKPOINT,
            master=settings.ENGINE_MASTER,
            host=settings.ENGINE_HOST,
            lanes=options["lanes"],
            first_epoch_s=settings.ENGINE_FIRST_EPOCH_S,
            stalled_s=settings.ENGINE_STALLED_S,
            keep_entries=settings.LOG_KEEP_ENTRIES,
            settings=_own_pages(),
        )
        engine = Engine(config, logger.info)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: engine.stop())
        if options["supervised"]:
            end_when(_nobody_looks_after_us(), engine.stop, PATIENCE_S)
        try:
            if options["standby"] and not _stood_by(engine):
                _leave_at_once()
            ending = engine.run()
        except LeaseTaken as taken:
            raise CommandError(taken.render(), returncode=75) from taken  # EX_TEMPFAIL
        except Exception:
            if not options["supervised"]:
                raise
            logger.exception("engine_failed")
            _leave_at_once()
        if ending is not Ending.STOPPED:
            if options["supervised"]:
                _leave_at_once()
            raise CommandError(f"the engine ended: {ending.value}")


def _stood_by(engine: Engine, words: int = 0) -> bool:
    """Stand by until told to begin; False where that will not come, or Spark is gone.

    Args:
        engine: to be made ready.
        words: the file descriptor at which that is told, standard input unless given.
    """
    _call_oneself("standby")
    engine.prepare()
    _call_oneself("standby-ready")
    while engine.is_prepared():
        if select.select([words], [], [], LOOK_S)[0]:
            _call_oneself("engine")
            return os.read(words, 100).decode().strip() == BEGIN
    return False


def _call_oneself(name: str) -> None:
    """Set the name that `ps` and `top` show of this process (Linux only)."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _leave_at_once() -> NoReturn:
    """Ends this process: what Spark would tidy up it would ask of a JVM that may be gone."""
    logging.shutdown()
    os._exit(1)


def _own_pages() -> dict[str, str]:
    """Returns what makes Spark serve its own pages to this host, where they are asked for."""
    if not settings.SPARK_UI:
        return {}
    port = str(settings.SPARK_UI)
    return {"spark.ui.enabled": "true", "spark.ui.port": port, "spark.ui.killEnabled": "false"}


def _nobody_looks_after_us() -> Callable[[], bool]:
    """Returns what tells that whoever started us is gone, and nobody else has come for a while."""
    looked_at, parent = time.monotonic(), os.getppid()

    def alone() -> bool:
        nonlocal looked_at
        with suppress(RedisError):
            if os.getppid() == parent or supervised(server(), settings.RESULTS_NAME):
                looked_at = time.monotonic()
        return time.monotonic() - looked_at > ALONE_AFTER_S

    return alone
