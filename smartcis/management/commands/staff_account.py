"""`manage.py staff_account`: the account that may lock doors and take seats in the demo."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from smartcis.environment import private_opener

NAME = "staff"
PASSWORD_FILE = "staff_password"  # noqa: S105 - the file's name


class Command(BaseCommand):
    help = "Make the staff account if there is none, and print its name and password."

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = settings.VAR / PASSWORD_FILE
        users = get_user_model().objects
        if not users.filter(username=NAME).exists():
            password = secrets.token_urlsafe(9)
            users.create_superuser(NAME, password=password)
            with open(path, "w", opener=private_opener) as out:
                out.write(password)
        if path.exists():
            self.stdout.write(f"{NAME} {path.read_text(encoding='ascii')}")
        else:
            self.stdout.write(f"{NAME} (its password was chosen by somebody)")
