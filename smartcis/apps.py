"""The Django application."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.utils.module_loading import import_string


class SmartCISConfig(AppConfig):
    """SmartCIS: one building, its people, sensors, machines and questions."""

    name = "smartcis"
    verbose_name = "SmartCIS"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Sends what each commit has to say on its way to the log, and to open sockets."""
        # By name: this module loads before the models that these need.
        import_string("smartcis.language.translate_tables")()
        import_string("smartcis.ingest.relay.install")()
        import_string("smartcis.live.rights.install")()
        import_string("smartcis.models.sqlite.install")()
        import_string("smartcis.checks.check_production")  # registers itself


class HouseAdminConfig(AdminConfig):
    """The operator's pages, as a site of our own."""

    default_site = "smartcis.house_admin.HouseAdmin"
