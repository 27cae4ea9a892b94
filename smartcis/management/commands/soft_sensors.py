"""Report this computer's load to an installation: `manage.py soft_sensors --url … --source …`."""

from __future__ import annotations

import os
import signal
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from smartcis.sources.remote import Remote
from smartcis.wrappers.host import Host
from smartcis.wrappers.protocol import Append, Batch, Readings, Settings, StreamRows

TOKEN_VARIABLE = "SMARTCIS_TOKEN"  # noqa: S105  # the variable's name, not a token
CPU_PCT = 1  # index of the load in a row of host_load


class Command(BaseCommand):
    help = (
        "Send load, busiest processes, people, jobs and web requests of this computer, over HTTP "
        f"with the token in {TOKEN_VARIABLE}. This installation itself is read by a source of "
        "kind host instead."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", required=True, help="of the installation")
        parser.add_argument("--source", required=True, help="a source of kind push there")
        parser.add_argument("--host", default="", help="this computer's name")
        parser.add_argument("--sid", default="", help="cpu sensor that stands for it there")
        parser.add_argument("--access-log", default="", help="web server's log to count in")
        parser.add_argument("--period", type=float, default=10.0, help="seconds")
        parser.add_argument("--polls", type=int, default=0, help="stop after so many; 0 for never")

    def handle(self, *_args: Any, **options: Any) -> None:
        token = os.environ.get(TOKEN_VARIABLE, "")
        if not token:
            raise CommandError(f"{TOKEN_VARIABLE} is not set; manage.py issue_token makes a token")
        stop = threading.Event()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stop.set())
        config = {"host": options["host"], "access_log": options["access_log"]}
        host = Host(Settings(options["source"], config, options["period"]))
        append = with_sensor(Remote(options["url"], options["source"], token), options["sid"])
        polls = failures = 0
        while not stop.is_set():
            began_s = time.monotonic()
            if not host.ask(append):
                failures += 1
            polls += 1
            if polls == options["polls"]:
                break
            stop.wait(max(0.0, options["period"] - (time.monotonic() - began_s)))
        self.stdout.write(f"{polls} polls, {failures} failed {host.pulse.reason}".strip())


def with_sensor(append: Append, sid: str) -> Append:
    """Also report the load as a reading of the machine's own cpu sensor, if it has one."""

    def appended(batch: Batch) -> int:
        rows = append(batch)
        if sid and isinstance(batch, StreamRows) and batch.relation == "host_load":
            readings = [
                {"sid": sid, "value": row[CPU_PCT], "unit": "%", "at_s": row[-1]}
                for row in batch.rows
            ]
            rows += append(Readings("", readings))
        return rows

    return appended
