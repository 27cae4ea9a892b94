"""Commands whose work stands under tests: benches, others' test files, texts to translate."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.core.management.base import CommandError

from aspen.errors import AspenError


class EvidenceMissing(AspenError, code="smartcis.evidence.missing"):
    """The product is installed without its tests."""


def evidence(module: str) -> Any:
    """Returns a module of the checkout's tests.

    Raises:
        CommandError: it, or something it needs, is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = EvidenceMissing(
            "what this command runs stands under tests, and it, or something it needs, is not here",
            found=f"no module named {error.name}",
            attempt="run manage.py of a checkout whose tests are set up (docker/setup.sh test)",
        )
        raise CommandError(missing.render()) from error
