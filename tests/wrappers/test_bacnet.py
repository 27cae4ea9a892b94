"""BACnet/IP: a device of bacpypes3 in a process of its own, and what answers wrongly or not."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from wrappers.conftest import START_S, changes_of, settings_of

from smartcis.models import SeenDevice, Sensor, Source
from smartcis.wrappers import bacnet, bacnet_client
from smartcis.wrappers.bacnet import BacnetDevice
from smartcis.wrappers.errors import BadConfig


@pytest.fixture(scope="module")
def port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    script = str(Path(__file__).with_name("bacnet_device.py"))
    with subprocess.Popen([sys.executable, script, str(free)], stdout=subprocess.PIPE) as device:
        assert device.stdout.readline() == b"ready\n"
        yield free
        device.kill()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(bacnet_client, "ANSWER_MS", 10_000)  # the machine may be busy


def asked(port: int, objects=(), memory: dict | None = None, **more) -> tuple[BacnetDevice, list]:
    config = {"host": "127.0.0.1", "port": port, "objects": list(objects)}
    memory = {} if memory is None else memory
    device = BacnetDevice(settings_of("bacnet", config, memory=memory, **more))
    taken = []
    device.ask(lambda batch: taken.extend(batch.measured) or 1)
    return device, [(one.device, one.quantity, one.value, one.unit, one.name) for one in taken]


def test_a_device_is_read_by_the_units_and_names_of_its_objects(port):
    device, found = asked(port)
    assert found == [
        ("analog-input,1", "temperature", 21.5, "°C", "Kitchen air"),
        ("analog-input,2", "temperature", 212.0, "°F", "Kitchen air, US"),
        ("binary-input,1", "presence", 1.0, "", "Kitchen occupancy"),
        ("binary-value,1", "switch", 0.0, "", "Fan"),
    ]
    told = " ".join(device.warnings)
    assert "analog-value,1 (Setpoint, no-units)" in told
    assert "analog-value,2 holds no number: nan" in told
    assert "analog-output" not in told


def test_what_objects_measure_is_not_asked_again_within_the_hour(port, monkeypatch):
    memory: dict = {}
    first = asked(port, memory=memory)[1]
    monkeypatch.setattr(bacnet, "_found", None)  # it would break
    assert asked(port, memory=memory)[1] == first


def test_named_objects_are_read_and_the_others_are_not(port):
    objects = [
        {"object": "analogInput,2", "kind": "temperature", "device": "kitchen"},
        {"object": "analog-value,1", "kind": "co2", "unit": "ppb"},
        {"object": "analog-input,99", "kind": "light"},
        {"object": "toaster", "kind": "light"},
    ]
    device, found = asked(port, objects)
    assert found == [
        ("kitchen", "temperature", 212.0, "°F", "Kitchen air, US"),
        ("analog-value,1", "co2", 3.0, "ppb", "Setpoint"),
    ]
    told = " ".join(device.warnings)
    assert "analog-input,99 refuses" in told
    assert "'toaster' is no object" in told


@pytest.mark.django_db
def test_its_values_are_readings_of_placed_sensors(home, port):
    config = {"host": "127.0.0.1", "port": port}
    source = Source(source="ahu", name="ahu", kind="bacnet", config=config)
    source.full_clean()
    source.save()
    assert home.poll(source)
    seen = {one.device: one for one in SeenDevice.objects.all()}
    assert seen["analog-input,2"].name == "Kitchen air, US"
    sid = seen["analog-input,2"].sids()["temperature"]
    sensor = Sensor(sid=sid, kind="temperature", unit_id="A", simulated=False)
    sensor.clean()
    sensor.save()
    home.later(30.0)
    assert home.poll(source)
    assert [row for _, row in changes_of("temperature_reading")] == [
        (sid, "A", pytest.approx(100.0), START_S + 30.0)
    ]


@contextmanager
def device_that_says(*answers: bytes):
    """Gives a port where every datagram is answered with these."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.settimeout(20)

        def serve() -> None:
            try:
                while True:
                    asked_of, whom = one.recvfrom(2_000)
                    # A rightful answer repeats the number of the request.
                    number = asked_of[8:9]
                    for answer in answers:
                        one.sendto(answer.replace(b"\xaa", number), whom)
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield one.getsockname()[1]


WRONG = {
    "silent": (),
    "noise": (b"\xff" * 40, b"", b"\x81"),
    "a frame cut off": (b"\x81\x0a\x00\x09\x01\x00\x30",),
    "an acknowledgement without a value": (b"\x81\x0a\x00\x09\x01\x00\x30\xaa\x0c",),
    "a value of another kind": (
        b"\x81\x0a\x00\x14\x01\x00\x30\xaa\x0c\x0c\x02\x3f\xff\xff\x19\x4c\x3e\x10\x3f",
    ),
    "an error": (b"\x81\x0a\x00\x0d\x01\x00\x50\xaa\x0c\x91\x01\x91\x1f",),
    "a refusal": (b"\x81\x0a\x00\x09\x01\x00\x60\xaa\x09",),
}


@pytest.mark.parametrize("answers", WRONG.values(), ids=WRONG)
def test_what_answers_wrongly_is_down(monkeypatch, answers):
    monkeypatch.setattr(bacnet_client, "ANSWER_MS", 200)
    monkeypatch.setattr(bacnet, "POLL_S", 3.0)
    with device_that_says(*answers) as port:
        device, found = asked(port)
    assert found == []
    assert device.pulse.never
    assert device.pulse.reason
    assert "broke its reader" not in device.pulse.reason


def test_nobody_there_and_an_address_inside(settings, monkeypatch):
    monkeypatch.setattr(bacnet_client, "ANSWER_MS", 200)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    assert "does not answer" in asked(free)[0].pulse.reason
    settings.NETWORKS = []
    assert "private network" in asked(free)[0].pulse.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"port": 0}, "port"),
        ({"host": ""}, "needs 'host'"),
        ({"objects": [{"object": "analog-input,1"}]}, "number 1.*'kind'"),
        ({"objects": [{"object": "a", "kind": "x"}] * 2}, "same quantity"),
    ],
)
def test_settings_that_cannot_be(change, reason):
    with pytest.raises(BadConfig, match=reason):
        BacnetDevice(settings_of("bacnet", {"host": "h"} | change))
