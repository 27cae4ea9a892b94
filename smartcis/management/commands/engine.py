"""Run the engine: `manage.py engine`."""

from __future__ import annotations

import logging
import signal
from argparse import ArgumentParser
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from aspen.spark.config import EngineConfig
from aspen.spark.engine import Ending, Engine, LeaseTaken
from smartcis.services.child import end_with_parent

PATIENCE_S = 8.0

logger = structlog.get_logger("engine")


class Command(BaseCommand):
    help = "Keep every maintained view: one Spark Structured Streaming query over the log."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--parent", type=int, default=0, help="end when this is no longer the parent process"
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
            keep_entries=settings.LOG_KEEP_ENTRIES,
        )
        engine = Engine(config, logger.info)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: engine.stop())
        if options["parent"]:
            end_with_parent(options["parent"], engine.stop, PATIENCE_S)
        try:
            ending = engine.run()
        except LeaseTaken as taken:
            raise CommandError(taken.render(), returncode=75) from taken  # EX_TEMPFAIL
        if ending is not Ending.STOPPED:
            raise CommandError(f"the engine ended: {ending.value}")
