"""The first start: Redis gets its port after the settings were read; nobody asks the old one."""

from __future__ import annotations

import os

import pytest
from django.conf import settings as live_settings
from django.contrib.auth import get_user_model
from structlog.testing import capture_logs

from aspen.log.entry import Tick
from smartcis import composition


@pytest.fixture
def first_start(settings, monkeypatch):
    """Settings as they are where no port was ever chosen; everything is as before afterwards."""
    nobody = "redis://127.0.0.1:1/0"
    monkeypatch.setenv("REDIS_URL", nobody)
    own = settings.CHANNEL_LAYERS["default"]
    settings.REDIS_URL = settings.CELERY_BROKER_URL = nobody
    settings.CHANNEL_LAYERS = {"default": {**own, "CONFIG": {**own["CONFIG"], "hosts": [nobody]}}}
    for made in (composition.log, composition.results, composition.server):
        made.cache_clear()
    yield
    for made in (composition.log, composition.results, composition.server):
        made.cache_clear()


@pytest.mark.django_db(transaction=True)
def test_the_server_that_was_just_started_is_used_for_everything(first_start, redis_url):
    composition.use_server(redis_url)
    with capture_logs() as said:
        get_user_model().objects.create_user("staff").save()
    assert not [line for line in said if line["log_level"] == "warning"]
    assert composition.log().append([Tick(0.0)])
    assert composition.server().ping()
    assert live_settings.CELERY_BROKER_URL == os.environ["REDIS_URL"] == redis_url
