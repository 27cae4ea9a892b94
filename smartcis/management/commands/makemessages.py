"""`manage.py makemessages`: write what is to be translated into the catalogues."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from smartcis.management.evidence import evidence


class Command(BaseCommand):
    help = "Write what is to be translated into smartcis/locale/*/LC_MESSAGES."

    def handle(self, *_args: Any, **_options: Any) -> None:
        evidence("tests.catalogues.command").run(self.stdout.write)
