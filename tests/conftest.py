"""Fixtures that several packages share."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from waiting import PATIENCE_S

from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG
from smartcis.ingest.hour import Sampling
from smartcis.services.embedded_redis import EmbeddedRedis


def pytest_addoption(parser):
    parser.addoption("--run-nightly", action="store_true", help="also run tests marked nightly")
    parser.addoption("--pictures", metavar="DIR", help="put pictures of the pages there")


def pytest_configure(config):
    # How long an example takes is the machine's business: suites run side by side. `make test` is
    # the same run each time, so that a failure is one of the change; `make nightly` draws anew.
    hypothesis_settings.register_profile(
        "shared",
        deadline=None,
        derandomize=not config.getoption("--run-nightly"),
        suppress_health_check=[HealthCheck.too_slow],
    )
    hypothesis_settings.load_profile("shared")
    if not hasattr(config, "workerinput"):
        compile_catalogues()


def compile_catalogues() -> None:
    """What is said in other languages, as it is written now: it is read compiled."""
    for source in Path("smartcis/locale").glob("*/LC_MESSAGES/*.po"):
        if source.stem == "djangojs":  # built into the front end
            continue
        with source.open("rb") as po, source.with_suffix(".mo").open("wb") as mo:
            write_mo(mo, read_po(po, abort_invalid=True))


NIGHTLY_TIMEOUT_S = 3_600  # a hang ends; a long run on a busy machine does not


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--run-nightly")
    skip = pytest.mark.skip(reason="only with --run-nightly")
    for item in items:
        # Of several processes one takes a whole file, for the sake of fixtures made once per file,
        # and one takes all that needs Spark: its session takes seconds and a gigabyte.
        group = "spark" if "spark" in item.keywords else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
        if "nightly" in item.keywords:
            item.add_marker(pytest.mark.timeout(NIGHTLY_TIMEOUT_S) if wanted else skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """What was said during a test may be nonsense; between processes it has to be UTF-8."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.fixture(autouse=True)
def _servers_of_tests_may_be_called(settings):
    """Sources and webhooks of tests are servers of this machine."""
    settings.NETWORKS = ["127.0.0.0/8"]


@pytest.fixture(autouse=True)
def _answers_are_waited_for(settings):
    settings.ANSWER_S = PATIENCE_S


@pytest.fixture(scope="session", autouse=True)
def _standing_queries_are_compiled_once() -> Iterator[None]:
    """Hundreds of tests deploy the same texts; what they compile to is tested elsewhere."""
    deploy = pytest.importorskip("smartcis.actions.deploy_standing_queries")
    compiled = cache(lambda texts: compile_views(dict(texts), CATALOG))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deploy, "compile_views", lambda texts, _: compiled(tuple(texts.items())))
        yield


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory) -> Iterator[str]:
    """A real Redis server for this test run."""
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    try:
        server.start()
        yield server.url
    finally:
        server.stop()


@pytest.fixture
def building(redis_url, settings, monkeypatch) -> Iterator[str]:
    """A fresh log and result store, wired into Django; gives their name in Redis."""
    composition = pytest.importorskip("smartcis.composition")
    name = f"test-{secrets.token_hex(4)}"
    settings.REDIS_URL = redis_url
    settings.NAME = settings.LOG_NAME = settings.RESULTS_NAME = name
    layer = {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url], "prefix": name},
    }
    settings.CHANNEL_LAYERS = {"default": layer}
    made = (composition.log, composition.results, composition.server)
    for factory in made:
        factory.cache_clear()
    # Of each sensor and minute a process keeps one reading: each test is a process anew.
    monkeypatch.setattr("smartcis.ingest.readings._SAMPLING", Sampling())
    yield name
    for factory in made:
        factory.cache_clear()


@pytest.fixture
def house(db) -> None:
    """A small house: two rooms off a corridor, one door that can be locked, one machine each."""
    models = pytest.importorskip("smartcis.models")
    venue = models.Venue.objects.create(
        slug="test", name="Test house", attribution="nobody", origin_lon_deg=0, origin_lat_deg=0
    )
    square = [[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]]
    level = models.Level.objects.create(
        level_id="L0",
        venue=venue,
        feature_id="l",
        ordinal=0,
        name="Ground",
        short_name="0",
        outline=[square],
    )
    places = {"hall": (5.0, 5.0), "A": (2.0, 2.0), "B": (8.0, 8.0)}
    for number, (rid, (x_m, y_m)) in enumerate(places.items(), start=1):
        unit = models.Unit.objects.create(
            rid=rid,
            level=level,
            name=f"Room {rid}",
            category="walkway" if rid == "hall" else "room",
            polygon=square,
            label_x_m=x_m,
            label_y_m=y_m,
            area_m2=9.0,
        )
        models.RoutingNode.objects.create(
            node=number, level=level, unit=unit, kind="centre", x_m=x_m, y_m=y_m
        )
    door = models.Door.objects.create(
        door_id="A.d1", level=level, inner_id="A", outer_id="hall", x_m=3.0, y_m=3.0
    )
    for src, dst, length_mm, through in ((1, 2, 4_000, door), (1, 3, 9_000, None)):
        for one, other in ((src, dst), (dst, src)):
            models.RoutingEdge.objects.create(
                src_id=one, dst_id=other, length_mm=length_mm, door=through
            )
    for mid, rid, node in (("m1", "A", 2), ("m2", "B", 3)):
        machine = models.Machine.objects.create(
            mid=mid, host=f"host-{mid}", unit_id=rid, node_id=node, x_m=2.0, y_m=2.0
        )
        models.SoftwareInstall.objects.create(machine=machine, software="LaTeX")
        for kind in ("seat", "cpu"):
            models.Sensor(sid=f"{mid}.{kind}", kind=kind, machine=machine).save()
    models.Kiosk.objects.create(kiosk_id="k1", name="Entrance", node_id=1)


@pytest.fixture
def engine(building) -> Callable[[], int]:
    """The engine's work without Spark: each call folds the log's news into the result store."""
    composition = pytest.importorskip("smartcis.composition")
    lane, generation, batch = Lane(), secrets.token_hex(4), itertools.count(1)

    def turn() -> int:
        log = composition.log()
        entries = log.read(lane.position, log.head())
        if not entries:
            return composition.results().head()[0]
        changes = lane.apply(entries)
        return composition.results().write(
            generation, next(batch), lane.position, entries[-1][1].at_s, changes, {}
        )

    return turn
