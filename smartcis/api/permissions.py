"""Permissions: everybody reads, staff edit; routes and queries have rules of their own."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from smartcis.access.grants import is_staff
from smartcis.models import AccessToken


def is_program(request: Request) -> bool:
    """Returns whether a request shows a token of a scope that its view names, and no account's."""
    return isinstance(request.auth, AccessToken) and request.auth.user is None


class StaffOrReadOnly(BasePermission):
    """Anonymous clients read; a staff session or a staff member's token edits."""

    message = "only staff may do this"

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002  # DRF's signature
        """Returns whether the request may go on."""
        return request.method in SAFE_METHODS or is_staff(request.user)


class StaffOnly(StaffOrReadOnly):
    """Staff alone, for reading, too."""

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002  # DRF's signature
        """Returns whether the request may go on."""
        return is_staff(request.user)


class StaffOrToken(StaffOrReadOnly):
    """Staff, and programs whose token has a scope that the view names in `token_scopes`."""

    message = "only gateways with a token, and staff, may push"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Returns whether the request may go on."""
        return is_program(request) or super().has_permission(request, view)
