"""The operator's pages, one file per family of tables."""

from smartcis.admin import building, calendar, equipment, routing, sensors, visitors

__all__ = ["building", "calendar", "equipment", "routing", "sensors", "visitors"]
