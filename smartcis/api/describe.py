"""How endpoints describe themselves beyond what drf-spectacular reads from them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework.permissions import SAFE_METHODS


class Described(AutoSchema):
    """Says that everything may be read without a token."""

    def get_auth(self) -> list[dict[str, Any]]:
        """Adds "no credentials" to the ways of reading."""
        ways: list[dict[str, Any]] = super().get_auth()
        if self.method in SAFE_METHODS and {} not in ways:
            ways.append({})
        return ways
