"""`manage.py wire`: write the socket's protocol as TypeScript for the front end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from smartcis.live.typescript import typescript

TARGET = Path("frontend/src/wire/protocol.ts")


class Command(BaseCommand):
    help = f"Write {TARGET} from smartcis/live/protocol.py."
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's way to say none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="fail when the file is stale")

    def handle(self, *_args: Any, **options: Any) -> None:
        path = settings.BASE_DIR / TARGET
        text = typescript()
        if options["check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                raise CommandError(f"{TARGET} is stale: run `manage.py wire`")
            self.stdout.write(f"{TARGET} is current")
            return
        path.write_text(text, encoding="utf-8")
        self.stdout.write(f"wrote {TARGET}")
