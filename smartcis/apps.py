"""The Django application."""

from __future__ import annotations

from django.apps import AppConfig


class SmartCISConfig(AppConfig):
    """SmartCIS: one building, its people, sensors, machines and questions."""

    name = "smartcis"
    verbose_name = "SmartCIS"
    default_auto_field = "django.db.models.BigAutoField"
