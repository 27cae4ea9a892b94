"""Policies: who may read which rows of which relation, as the code declares it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from smartcis.admin.marks import ReadOnly
from smartcis.models import MaintainedView, ReadPolicy
from smartcis.models.closed import closed_behind
from smartcis.policies import POLICIES


@admin.register(ReadPolicy)
class ReadPolicyAdmin(ReadOnly):
    """Lists the policies, and the standing views that they close."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Returns the page."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        private = MaintainedView.objects.filter(private=True, standing=True)
        others = private.exclude(name__in=POLICIES).values_list("name", flat=True)
        context = {
            **self.admin_site.each_context(request),
            **(extra_context or {}),
            "title": _("Who may read which rows"),
            "opts": self.opts,
            "policies": POLICIES.values(),
            "closed": [(name, POLICIES[closed_behind(name)]) for name in others.order_by("name")],
        }
        return TemplateResponse(request, "smartcis/policies.html", context)
