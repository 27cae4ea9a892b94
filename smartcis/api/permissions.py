"""Permissions: everybody reads, staff edit; routes and queries have rules of their own."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from smartcis.access.grants import is_staff


class StaffOrReadOnly(BasePermission):
    """Anonymous clients read; a staff session or a staff member's token edits."""

    message = "only staff may do this"

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002  # DRF's signature
        """Returns whether the request may go on."""
        return request.method in SAFE_METHODS or is_staff(request.user)
