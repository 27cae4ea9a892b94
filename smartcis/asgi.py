"""ASGI entry point: pages, REST and the live socket; docker/Dockerfile says how it is run.

With `--http h11`, since httptools bounds no headers; `--no-proxy-headers`, since uvicorn believes
whoever is on this machine what he says of his address; and
`--ws smartcis.live.slow_reader:SocketProtocol`, which lets go of silent clients.

The hub starts with the first socket of the event loop; the lifespan only beats for the supervisor.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from typing import cast

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartcis.settings")
pages_and_api = get_wsgi_application()

import smartcis.celery  # noqa: E402, F401  # what views ask for later goes to its broker
from smartcis.accounts import SocketSeenAsVisitor  # noqa: E402  # models load with the application above
from smartcis.body_limit import App, BodyLimit, Receive, Send  # noqa: E402  # same
from smartcis.fair_share import FairShare, metered  # noqa: E402  # same
from smartcis.in_threads import InThreads  # noqa: E402  # same
from smartcis.live.consumers import LiveConsumer  # noqa: E402  # same
from smartcis.probes import HealthProbes  # noqa: E402  # same
from smartcis.request_ids import RequestIds  # noqa: E402  # same
from smartcis.services.heartbeat import beat  # noqa: E402  # same

WORKERS = 64
"""Threads at most, those among them that wait some seconds for the engine's answer."""


async def _beat_on() -> None:
    while True:
        beat()
        await asyncio.sleep(1.0)


async def lifespan(_scope: object, receive: Receive, send: Send) -> None:
    """Beats as long as this server serves."""
    await receive()
    beating = asyncio.create_task(_beat_on(), name="beat")
    await send({"type": "lifespan.startup.complete"})
    await receive()
    beating.cancel()
    await send({"type": "lifespan.shutdown.complete"})


# A request that computes gives way to the others sooner than after Python's 5 ms: one that reads
# a hundred rows lets go of the interpreter a hundred times, and waits so long each time.
sys.setswitchinterval(0.0002)
# What is loaded by now stays: without this, a large text's garbage has all of it looked through.
gc.freeze()

# Views are no coroutines: in one thread a request costs a third of what it costs where every layer
# goes to a thread of its own and back.
limited = BodyLimit(
    InThreads(metered(pages_and_api), WORKERS),
    settings.BODY_LIMIT_BYTES,
    settings.UPLOAD_LIMIT_BYTES,
)

served = ProtocolTypeRouter(
    {
        "http": limited,
        "websocket": AuthMiddlewareStack(
            SocketSeenAsVisitor(URLRouter([path("ws/live/", LiveConsumer.as_asgi())]))
        ),
    }
)
shared = FairShare(cast("App", served), settings.SHARES)

application = ProtocolTypeRouter(
    {
        "lifespan": lifespan,
        "http": HealthProbes(RequestIds(shared)),
        "websocket": shared,
    }
)
