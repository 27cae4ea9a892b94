"""Write a backup: `manage.py backup FILE`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import redis
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from aspen.errors import AspenError
from smartcis.services.backup import backup


class Command(BaseCommand):
    help = "Write database, log and keys as of one moment into a file; the product may run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="e.g. smartcis-monday.tar.gz; holds the keys")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            made = backup(options["file"])
        except AspenError as refused:
            raise CommandError(refused.render()) from refused
        except (DatabaseError, OSError, redis.RedisError) as failed:
            raise CommandError(f"no backup was made: {failed}") from failed
        self.stdout.write(f"{options['file']}: up to log position {made['position']}")
        if "secret_key" not in made["sha256"]:
            self.stdout.write("the secret key is SMARTCIS_SECRET_KEY's: keep it with the backup")
