"""`manage.py issue_token NAME`: a staff token for a gateway or a script, printed once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from knox.models import AuthToken


class Command(BaseCommand):
    help = "Make a staff service account, if there is none of that name, and issue a token for it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="who will use the token, e.g. gateway-2nd-floor")

    def handle(self, *_args: Any, **options: Any) -> None:
        users = get_user_model().objects
        user, made = users.get_or_create(username=options["name"], defaults={"is_staff": True})
        if made:
            user.set_unusable_password()
            user.save()
        # Only the hash is kept: this is the one time the token can be read.
        _, token = AuthToken.objects.create(user)
        self.stdout.write(token)
