"""Bring a backup back: `manage.py restore FILE`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from aspen.errors import AspenError
from smartcis.services.backup import restore
from smartcis.services.preflight import only_here, runs_already


class Command(BaseCommand):
    help = "Bring a backup back into this installation, which must not run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="as `manage.py backup` wrote it")
        parser.add_argument("--replace", action="store_true", help="lose what is here")

    def handle(self, *_args: Any, **options: Any) -> None:
        taken = only_here(settings.VAR)
        if taken is None:
            raise CommandError(runs_already(settings.VAR))
        with taken:
            try:
                made = restore(options["file"], replace=options["replace"])
                call_command("migrate", verbosity=0)
            except AspenError as refused:
                raise CommandError(refused.render()) from refused
            except (DatabaseError, OSError, redis.RedisError) as failed:
                raise CommandError(f"not restored, so restore again: {failed}") from failed
        self.stdout.write(f"restored up to log position {made['position']}; start the product")
