"""ASGI entry point: pages, REST and the live socket. Run with `uvicorn smartcis.asgi:application`.

The hub starts with the first socket of the event loop: no lifespan events are needed.
"""

from __future__ import annotations

import os
from typing import cast

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartcis.settings")
pages_and_api = get_asgi_application()

from smartcis.body_limit import App, BodyLimit  # noqa: E402  # models load with the application above
from smartcis.live.consumers import LiveConsumer  # noqa: E402  # same

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(cast("App", pages_and_api), settings.BODY_LIMIT_BYTES),
        "websocket": AuthMiddlewareStack(URLRouter([path("ws/live/", LiveConsumer.as_asgi())])),
    }
)
