"""`manage.py issue_token NAME`: a token for a gateway or a script, printed once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from smartcis.actions.issue_token import issue_token
from smartcis.models import AccessToken


class Command(BaseCommand):
    help = (
        "Issue a token that pushes readings and nothing else: with --source, of what that source "
        "stands for, and its rows."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="who will use the token, e.g. gateway-2nd-floor")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--source", action="append", default=[], help="push its rows, too")
        which.add_argument("--metrics", action="store_true", help="read the metrics, no pushing")
        which.add_argument(
            "--account",
            help="all that this account may do; one that is not there is made, as staff that "
            "cannot log in",
        )
        parser.add_argument("--days", type=float, help="how long it lives")

    def handle(self, *_args: Any, **options: Any) -> None:
        scope, user = AccessToken.Scope.PUSH, None
        if options["metrics"]:
            scope = AccessToken.Scope.METRICS
        if options["account"]:
            scope = AccessToken.Scope.ACCOUNT
            users = get_user_model().objects
            user, made = users.get_or_create(
                username=options["account"], defaults={"is_staff": True}
            )
            if made:
                user.set_unusable_password()
                user.save()
        try:
            _, text = issue_token(
                options["name"],
                scope=scope,
                sources=options["source"],
                user=user,
                days=options["days"],
            )
        except ValidationError as refused:
            raise CommandError("; ".join(refused.messages)) from refused
        self.stdout.write(text)
