"""The operator's pages, one file per family of tables."""

from smartcis.admin import building, calendar, equipment, routing, sensors, sources, visitors

__all__ = ["building", "calendar", "equipment", "routing", "sensors", "sources", "visitors"]
