"""Modbus TCP: pymodbus' own simulated server, and servers that answer wrongly or not at all."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from django.core.exceptions import ValidationError
from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from wrappers.conftest import START_S, changes_of, settings_of

from smartcis.models import SeenDevice, Sensor, Source
from smartcis.wrappers import modbus
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.modbus import ModbusServer

REGISTERS = [
    {"register": 0, "type": "uint16", "kind": "co2"},
    {"register": 1, "type": "int16", "kind": "temperature", "scale": 0.1, "offset": -1},
    {"register": 2, "type": "int32", "kind": "power", "unit": "kW"},
    {"register": 4, "type": "uint32", "kind": "consumption", "word_order": "little"},
    {"register": 6, "type": "float32", "kind": "voltage", "table": "input"},
    {"register": 3, "table": "coil", "kind": "switch"},
    {"register": 3, "table": "discrete", "kind": "door", "device": "gate"},
]
ANSWERS = [
    ("s", "co2", 65_000.0),
    ("s", "temperature", -21.0),
    ("s", "power", -70_000.0),
    ("s", "consumption", 65_536.0 + 2.0),
    ("s", "voltage", 230.5),
    ("s", "switch", 1.0),
    ("gate", "door", 0.0),
]


async def refuse_nine(_function, _start, address, *_more) -> ExcCodes | None:
    return ExcCodes.DEVICE_BUSY if address == 9 else None


@pytest.fixture(scope="module")
def port():
    """The port of a simulated server with a unit 1."""
    coils = [SimData(0, values=[False] * 3 + [True] + [False] * 12, datatype=DataType.BITS)]
    discrete = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    holding = [
        SimData(0, values=65_000, datatype=DataType.UINT16),
        SimData(1, values=-200, datatype=DataType.INT16),
        SimData(2, values=-70_000, datatype=DataType.INT32),
        SimData(4, values=[2, 1], datatype=DataType.UINT16),
        SimData(8, values=[0x7FC0, 0], datatype=DataType.UINT16),
    ]
    inputs = [SimData(6, values=230.5, datatype=DataType.FLOAT32)]
    device = SimDevice(1, (coils, discrete, holding, inputs), action=refuse_nine)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        await ModbusTcpServer(device, address=("127.0.0.1", free)).serve_forever(background=True)
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(serve())
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    assert ready.wait(30)
    yield free
    loop.call_soon_threadsafe(loop.stop)


def config_of(port: int, registers=REGISTERS, **more) -> dict:
    return {"host": "127.0.0.1", "port": port, "registers": registers} | more


def asked(config: dict) -> tuple[ModbusServer, list]:
    server, taken = ModbusServer(settings_of("modbus", config)), []
    server.ask(lambda batch: taken.extend(batch.measured) or 1)
    return server, [(one.device, one.quantity, round(one.value, 6)) for one in taken]


def test_every_type_and_table_is_read(port):
    server, found = asked(config_of(port))
    assert found == ANSWERS
    assert (server.pulse.reason, server.warnings) == ("", [])


def test_a_refused_register_and_one_without_a_number_cost_the_others_nothing(port):
    registers = [
        {"register": 500, "type": "int16", "kind": "light"},
        {"register": 9, "type": "uint16", "kind": "noise"},
        {"register": 8, "type": "float32", "kind": "pressure"},
        *REGISTERS,
    ]
    server, found = asked(config_of(port, registers))
    assert found == ANSWERS
    told = " ".join(server.warnings)
    assert "holding 500 is refused: exception 2" in told
    assert "holding 9 is refused: exception 6" in told
    assert "holding 8 holds no number" in told
    server, found = asked(config_of(port, registers[:3]))
    assert found == []
    assert server.pulse.never


@pytest.mark.django_db
def test_its_values_are_readings_of_placed_sensors(home, port):
    source = Source(source="plc", name="plc", kind="modbus", config=config_of(port))
    source.full_clean()
    source.save()
    sensor = Sensor(sid="plc:plc:temperature", kind="temperature", unit_id="A", simulated=False)
    sensor.clean()
    sensor.save()
    assert home.poll(source)
    assert [row for _, row in changes_of("temperature_reading")] == [
        ("plc:plc:temperature", "A", pytest.approx(-21.0), START_S)
    ]
    seen = {one.device: sorted(one.quantities) for one in SeenDevice.objects.all()}
    assert seen["gate"] == ["door"]
    assert "co2" in seen["plc"]


@contextmanager
def server_that_says(answer: bytes | None, *, pause_s: float = 0.0):
    """Gives a port where every request is answered so; None closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk(one: socket.socket) -> None:
        with one, suppress(OSError):
            while request := one.recv(300):
                if answer is None:
                    return
                for part in (
                    [answer[n : n + 1] for n in range(len(answer))] if pause_s else [answer]
                ):
                    # A rightful answer repeats the number of the request.
                    one.sendall(part.replace(b"\xaa\xaa", request[:2]))
                    time.sleep(pause_s)

    def serve() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(one,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


WRONG = {
    "closes": None,
    "silent": b"",
    "another protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "noise": b"\xff" * 260,
    "another request's number": b"\x7f\x7f\x00\x00\x00\x05\x01\x03\x02\x00\x01",
    "another unit": b"\xaa\xaa\x00\x00\x00\x05\x07\x03\x02\x00\x01",
    "another function": b"\xaa\xaa\x00\x00\x00\x05\x01\x01\x01\x01\x00",
    "too few words": b"\xaa\xaa\x00\x00\x00\x03\x01\x03\x00",
    "half a frame": b"\xaa\xaa\x00\x00\x00\x05\x01",
    "a length that is none": b"\xaa\xaa\x00\x00\x00\x00",
    "no words at all": b"\xaa\xaa\x00\x00\x00\x02\x01\x03",
}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG)
def test_a_server_that_answers_wrongly_is_down(monkeypatch, answer):
    monkeypatch.setattr(modbus, "ANSWER_S", 0.3)
    with server_that_says(answer) as port:
        server, found = asked(config_of(port, REGISTERS[:2]))
    assert found == []
    assert server.pulse.never
    assert server.pulse.reason
    assert "broke its reader" not in server.pulse.reason


def test_a_server_that_drips_is_given_up(monkeypatch):
    monkeypatch.setattr(modbus, "ANSWER_S", 0.3)
    with server_that_says(b"\xaa\xaa\x00\x00\x00\xfa\x01\x03" + b"\x00" * 90, pause_s=0.1) as port:
        server, found = asked(config_of(port))
    assert found == []
    assert "does not answer" in server.pulse.reason


def test_nobody_there_and_an_address_inside(settings):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    server, _ = asked(config_of(free))
    assert "does not answer" in server.pulse.reason
    settings.NETWORKS = []
    server, _ = asked(config_of(free))
    assert "private network" in server.pulse.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"registers": []}, "needs 'registers'"),
        ({"registers": "all"}, "list"),
        ({"registers": [7]}, "list of objects"),
        ({"registers": [{"register": 1, "type": "int16"}]}, "number 1.*'kind'"),
        ({"registers": [{"register": 65_535, "type": "int32", "kind": "x"}]}, "no such register"),
        ({"registers": [{"register": -1, "type": "int16", "kind": "x"}]}, "no such register"),
        ({"registers": [{"register": 1, "kind": "x"}]}, "have a type"),
        (
            {"registers": [{"register": 1, "kind": "x", "table": "coil", "type": "int16"}]},
            "have none",
        ),
        ({"registers": [{"register": 1, "type": "int64", "kind": "x"}]}, "one of uint16"),
        ({"registers": [{"register": True, "type": "int16", "kind": "x"}]}, "whole number"),
        ({"registers": REGISTERS[:1] * 2}, "number 2: there is a co2"),
        ({"port": 0}, "port"),
        ({"unit": 256}, "unit"),
    ],
)
def test_settings_that_cannot_be(change, reason):
    with pytest.raises(BadConfig, match=reason):
        ModbusServer(settings_of("modbus", config_of(502) | change))


@pytest.mark.django_db
def test_the_admin_is_told_what_is_wrong(house):
    config = config_of(502, [{"register": 1, "kind": "x"}])
    with pytest.raises(ValidationError, match="number 1"):
        Source(source="plc", name="plc", kind="modbus", config=config).full_clean()
