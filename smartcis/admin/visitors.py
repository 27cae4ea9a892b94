"""Visitors: tags, and nothing about who carries them."""

from __future__ import annotations

from django.contrib import admin

from smartcis.admin.marks import Page, simulated_mark
from smartcis.models import Visitor


@admin.register(Visitor)
class VisitorAdmin(Page):
    """Simulated visitors walk in when added and leave when switched off."""

    list_display = ("tag", "speed_m_s", "enabled", simulated_mark)
    list_filter = ("enabled", "simulated")
    search_fields = ("tag",)
    fields = ("tag", "speed_m_s", "enabled", "simulated")
