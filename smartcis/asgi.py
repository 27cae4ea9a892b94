"""ASGI entry point: pages, REST and the live socket."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartcis.settings")
application = get_asgi_application()
