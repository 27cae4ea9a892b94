"""The operator's pages, one file per family of tables."""

from django.contrib import admin

from smartcis.admin import (
    alarms,
    building,
    calendar,
    changes,
    destinations,
    devices,
    equipment,
    imports,
    policies,
    routing,
    sensors,
    sources,
    tokens,
    visitors,
)
from smartcis.admin.login import LimitedLogin

admin.site.login_form = LimitedLogin
