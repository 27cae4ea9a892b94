"""What the compose file describes, started without containers: the journey, and two deaths.

broker ─> listener ─> log ─> engine on two Spark workers ─> results ─> two web processes
"""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time

import httpx
import paho.mqtt.client as mqtt
import pytest
from deployment.cluster import SAID_BY_CADDY, cluster
from deployment.compose_file import GIVEN, ROOT
from paho.mqtt.enums import CallbackAPIVersion
from waiting import until
from websockets.sync.client import connect

from smartcis.client import Fold, Problem, SmartCIS
from smartcis.client.live import Follower

pytestmark = [pytest.mark.nightly, pytest.mark.slow]
BUILDING = ROOT / "tests" / "importers" / "buildings" / "clinic.ifc"
PATIENCE_S = 900.0  # what a busy machine may take
SENSOR, SECRET = "seats", "s3at"
ROOMS = NEAR, FAR = "0N0", "0S3"  # as seen from 0N1


class Web(SmartCIS):
    """A client of one web process, which says what Caddy would say."""

    def __init__(self, port, token=None):
        super().__init__(f"http://127.0.0.1:{port}", token, timeout_s=120.0, patience_s=600.0)
        self.rest.http.headers.update({"Host": GIVEN["SMARTCIS_HOST"], **SAID_BY_CADDY})
        self.rest.http.event_hooks = {"response": [self._keep_cookies]}

    def _keep_cookies(self, _answer):
        """To a browser all this is HTTPS; the cookies are for nothing else."""
        for cookie in self.rest.http.cookies.jar:
            cookie.secure = False

    def _open_socket(self):
        host, port = self.rest.url.removeprefix("http://").split(":")
        return connect(
            f"ws://{GIVEN['SMARTCIS_HOST']}/ws/live/",
            sock=socket.create_connection((host, int(port)), 120.0),
            additional_headers=SAID_BY_CADDY,
            open_timeout=120.0,
            ping_interval=None,
        )

    def missing(self):
        return self.rest.http.get(f"{self.rest.url}/readyz").json()["missing"]

    def ready(self):
        return not self.missing()

    def seen(self, view, holds):
        """Follow a view over the socket until its rows are so."""
        fold, until_s = Fold(), time.monotonic() + PATIENCE_S
        for news in Follower(self._open_socket, self.rest.url, [(view, None)]).news():
            fold.take(news)
            rows = list(fold.rows)
            if holds(rows):
                return rows
            assert time.monotonic() < until_s, f"{view} on the socket: {rows}"
        raise AssertionError("the socket ended")


class Sensor:
    """Somebody who publishes, under an account or without one."""

    def __init__(self, port, account=SENSOR, password=SECRET):
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.username_pw_set(account, password)
        self.codes, self.port = [], port
        self.client.on_connect = lambda *call: self.codes.append(str(call[3]))

    def connect(self):
        self.client.connect("127.0.0.1", self.port)
        self.client.loop_start()
        return until(lambda: self.codes)[0]

    def publish(self, readings):
        at_s = time.time()
        text = json.dumps([one | {"at_s": at_s} for one in readings])
        self.client.publish(f"smartcis/readings/{SENSOR}", text, qos=1).wait_for_publish(60)


class Seats(threading.Thread):
    """Says every few seconds what is on each seat, since a silent one is not free."""

    def __init__(self, sensor, sids):
        super().__init__(daemon=True)
        self.sensor, self.sids = sensor, sids
        self.taken, self.over = frozenset(), threading.Event()

    def run(self):
        while not self.over.is_set():
            self.say()
            self.over.wait(5)

    def say(self):
        values = {"seat": (0.0, "kg"), "cpu": (3.0, "%")}
        readings = []
        for (rid, kind), sid in self.sids.items():
            value, unit = values[kind]
            if kind == "seat" and rid in self.taken:
                value = 70.0
            readings.append({"sid": sid, "value": value, "unit": unit})
        self.sensor.publish(readings)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """All services are up and well, in an empty house."""
    with cluster(tmp_path_factory.mktemp("deployed")) as made:
        made.start("spark-master")
        printed = made.run("prepare")
        for name in ("spark-worker", "spark-worker", "tasks", "sources", "listener", "web", "web"):
            made.start(name)
        for one in made.running:
            if shutil.which(one.asked.split()[0]):  # clients of Redis and Mosquitto may be missing

                def said(name=one.name):
                    return f"{name} is not well\n{made.words_of()}"

                until(one.is_healthy, said, patience_s=PATIENCE_S, pause_s=1.0)
        yield made, printed


@pytest.fixture(scope="module")
def webs(deployed):
    """A staff member's clients of both web processes."""
    made, _ = deployed
    token = made.run("web", "python", "manage.py", "issue_token", "walk", "--account", "staff")
    return [Web(one.port, token.strip()) for one in made.running if one.name == "web"]


@pytest.fixture(scope="module")
def sensor(deployed):
    """A sensor with an account of its own, made as docs/install.md says."""
    made, _ = deployed
    broker = next(one for one in made.running if one.name == "mosquitto")
    passwords = made.folder / "mosquitto" / "passwords"
    made.run("mosquitto", "mosquitto_passwd", "-b", str(passwords), SENSOR, SECRET)
    broker.process.send_signal(1)  # SIGHUP: it reads its accounts again
    port = made.ports["mosquitto"]
    return until(lambda: (one := Sensor(port)).connect() == "Success" and one, pause_s=0.5)


def test_everything_is_ready_before_there_is_a_building(deployed, webs):
    _, printed = deployed
    assert "staff " in printed
    for web in webs:
        until(web.ready, web.missing, patience_s=PATIENCE_S, pause_s=0.5)
        page = web.rest.http.get(f"{web.rest.url}/")
        assert page.status_code == 200
        assert "map" in page.text
        with pytest.raises(Problem, match="no building has been imported") as refused:
            web.building()
        assert "Building imports" in refused.value.attempt


def test_nobody_without_an_account_reaches_the_broker(deployed):
    port = deployed[0].ports["mosquitto"]
    for account, password in ((None, None), (SENSOR, "guessed"), ("smartcis", "smartcis")):
        assert Sensor(port, account, password).connect() == "Not authorized"


def test_sensors_publish_and_only_the_product_hears(deployed, sensor):
    heard = []
    ours = Sensor(deployed[0].ports["mosquitto"], "smartcis", GIVEN["MQTT_PASSWORD"])
    for one in (sensor, ours):
        assert one.codes or one.connect() == "Success"
        one.client.on_message = lambda *call, one=one: heard.append((one, call[2].payload))
        one.client.subscribe("#", qos=1)
    said = b"not a reading"
    until(
        lambda: (ours, said) in heard,
        also=lambda: sensor.client.publish("elsewhere", said, qos=1),
        pause_s=0.2,
    )
    assert {one for one, _ in heard} == {ours}


def test_the_broker_speaks_tls_where_a_certificate_is(deployed):
    made, _ = deployed
    client = Sensor(made.ports["tls"], "smartcis", GIVEN["MQTT_PASSWORD"])
    client.client.tls_set(str(made.folder / "certs" / "server.crt"))
    assert client.connect() == "Success"


def test_the_journey_and_two_deaths(deployed, webs, sensor):
    made, _ = deployed
    one, other = webs
    made.run("web", "python", "manage.py", "import_building", str(BUILDING))
    until(lambda: one.building().name == "Clinic")
    assert "Clinic" in other.rest.http.get(f"{other.rest.url}/").text
    sids = {}
    for rid in ROOMS:
        machine = {"mid": rid, "host": f"pc-{rid}", "rid": rid, "software": ["LaTeX"]}
        one.rest.post("machines/", machine)
        for kind in ("seat", "cpu"):
            new = {"kind": kind, "mid": rid, "simulated": False}
            sids[rid, kind] = one.rest.post("sensors/", new)["sid"]
    kiosk = {"id": "entrance", "name": "Entrance", "node": one.node_of("0N1")}
    one.rest.post("kiosks/", kiosk)
    seats = Seats(sensor, sids)
    seats.start()

    def sit(*rooms):
        """Sit down there and nowhere else, and see it on the socket of the other web process."""
        seats.taken = frozenset(rooms)
        seats.say()
        free = set(ROOMS) - set(rooms)
        other.seen("free_machine", lambda rows: {row.mid for row in rows} == free)

    # A reading: account → broker → listener → log → engine → the other web's socket.
    sit()

    # The way to the nearest machine; somebody sits down; he leaves; the door there is locked.
    walk = one.route("entrance", "LaTeX")

    def leads_to(rid):
        until(lambda: walk.answer().mid == rid, walk.answer, patience_s=PATIENCE_S)

    leads_to(NEAR)
    sit(NEAR)
    leads_to(FAR)
    sit()
    leads_to(NEAR)
    one.rest.call("PATCH", f"doors/{NEAR}.d1/", body={"state": "locked"}, twice=True)
    leads_to(FAR)

    # A query of one's own, asked at one web process and heard at the other.
    query = one.query("SELECT mid, rid FROM free_machine", name="free")
    other.seen(query.id, lambda rows: {row.mid for row in rows} == set(ROOMS))

    # A web process dies: the other one goes on.
    next(web for web in made.running if web.name == "web").kill()
    with pytest.raises(httpx.TransportError):
        one.rest.http.get(f"{one.rest.url}/healthz")
    sit(FAR)

    # A Spark worker dies, with its executor: the engine goes on with the other worker.
    next(worker for worker in made.running if worker.name == "spark-worker").kill()
    sit()
    other.seen(query.id, lambda rows: {row.mid for row in rows} == set(ROOMS))
    until(other.ready, patience_s=PATIENCE_S)
    seats.over.set()
