"""The operator's pages as one site: its name and its index in groups.

Outside `smartcis.admin`, whose modules register with it while that is imported.
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

GROUPS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    (
        "building",
        _("The building"),
        ("BuildingImport", "Venue", "Building", "Level", "Unit", "Door"),
    ),
    ("things", _("What stands in it"), ("Machine", "SoftwareInstall", "Desk", "Kiosk")),
    ("sensors", _("Sensors"), ("Sensor", "SensorKind", "RegionSeed")),
    ("sources", _("What feeds it"), ("Source", "SeenDevice", "RefusedMessage")),
    ("calendar", _("Calendar"), ("Reservation",)),
    ("visitors", _("Visitors"), ("Visitor", "StaffAccess")),
    (
        "accounts",
        _("Accounts and rights"),
        ("User", "Group", "AccessToken", "ReadPolicy", "Change"),
    ),
    ("graph", _("Walking graph"), ("RoutingNode", "RoutingEdge")),
)


class HouseAdmin(AdminSite):
    """The site."""

    site_header = _("Administration")
    site_title = "SmartCIS"
    index_title = _("Look after the building")
    login_template = "smartcis/login.html"
    logout_template = "smartcis/signed_out.html"
    enable_nav_sidebar = False  # the index and the path above a page lead everywhere

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """Returns the tables in groups, in the order in which a house is set up."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {one["object_name"]: one for app in apps for one in app["models"]}
        listed = [
            (label, title, [models.pop(name) for name in names if name in models])
            for label, title, names in GROUPS
        ]
        listed.append(("more", _("More"), list(models.values())))
        return [
            {"app_label": label, "name": title, "app_url": f"#{label}", "models": rows}
            for label, title, rows in listed
            if rows
        ]
