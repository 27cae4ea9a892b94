"""The front end's types are those of the socket's messages and of the OpenAPI description."""

from __future__ import annotations

from django.core.management import call_command


def test_the_generated_types_are_current():
    call_command("wire", "--check")
