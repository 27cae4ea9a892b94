"""Families of payloads: recorded-looking messages, odd ones among them; and any bytes at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrappers.sparkplug_messages import NODE, births, encoded

from aspen.errors import AspenError
from smartcis.wrappers.errors import BadBrokerMessage, BadConfig
from smartcis.wrappers.payloads.families import CLASSES
from smartcis.wrappers.payloads.paths import picked, read_path
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.payloads.reader import PayloadReader
from smartcis.wrappers.payloads.template import read_template
from smartcis.wrappers.payloads.topics import read_pattern
from smartcis.wrappers.protocol import Measurements, PayloadMapping

HERE = Path(__file__).parent / "payloads"
FILES = sorted(HERE.glob("*.json"))
NOW_S = datetime(2026, 11, 22, 16, 30, tzinfo=UTC).timestamp()
BERLIN = ZoneInfo("Europe/Berlin")


def body(case: dict, now_s: float = NOW_S) -> bytes:
    """The bytes of a message of the corpus, measured now."""
    if "text" in case:
        return case["text"].encode("latin-1")
    at = datetime.fromtimestamp(now_s, UTC)
    text = json.dumps(case["payload"], ensure_ascii=False)
    for name, value in {
        '"{iso}"': json.dumps(at.isoformat()),
        '"{iso9}"': json.dumps(f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06}123Z"),
        '"{local}"': json.dumps(f"{at.astimezone(BERLIN):%Y-%m-%dT%H:%M:%S}"),
        '"{ms}"': str(round(now_s * 1000)),
    }.items():
        text = text.replace(name, value)
    return text.encode()


def corpus(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def told(reader: PayloadReader, topic: str, data: bytes) -> list[tuple]:
    """What a message says: device, quantity, value, unit, when."""
    batch = reader.read(Message(topic, data, NOW_S))
    assert isinstance(batch, Measurements)
    return [(m.device, m.quantity, m.value, m.unit, m.at_s) for m in batch.measured]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_messages_are_read_without_a_mapping(path):
    case, reader = corpus(path), PayloadReader((), zone=BERLIN)
    found = [row for one in case["messages"] for row in told(reader, one["topic"], body(one))]
    when = {"now": pytest.approx(NOW_S, abs=0.001), None: None}
    wanted = [(*row[:2], pytest.approx(row[2]), row[3], when[row[4]]) for row in case["measured"]]
    assert len(found) == len(wanted)
    for row in wanted:
        assert row in found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_wrong_with_the_others_is_said(path):
    for one in corpus(path)["refused"]:
        with pytest.raises(AspenError):
            PayloadReader(()).read(Message(one["topic"], body(one), NOW_S))


def test_sparkplug_data_are_read_by_the_aliases_of_the_last_birth():
    reader = PayloadReader(())
    with pytest.raises(BadBrokerMessage, match="no birth"):
        told(
            reader, f"spBv1.0/plant/DDATA/{NODE}/air", encoded([{"alias": 7, "double_value": 1.0}])
        )
    found = [row for topic, data in births(NOW_S) for row in told(reader, topic, data)]
    assert found == [
        (f"plant/{NODE}", "temperature", -5.0, "°C", NOW_S),
        (f"plant/{NODE}/air/hall", "pressure", pytest.approx(101.3), "kPa", NOW_S),
        (f"plant/{NODE}/air", "presence", 1.0, "", NOW_S - 2.0),
    ]
    data = encoded(
        [
            {"alias": 7, "float_value": 100.5, "timestamp": round(NOW_S * 1000)},
            {"alias": 3, "is_null": True},
            {"alias": 8, "boolean_value": False, "is_historical": True},
        ],
        timestamp=1,
    )
    assert told(reader, f"spBv1.0/plant/DDATA/{NODE}/air", data) == [
        (f"plant/{NODE}/air/hall", "pressure", 100.5, "kPa", NOW_S)
    ]
    minus_two = encoded([{"alias": 3, "int_value": 2**32 - 2}], timestamp=round(NOW_S * 1000))
    assert told(reader, f"spBv1.0/plant/NDATA/{NODE}", minus_two)[0][2] == -2.0
    assert told(reader, f"spBv1.0/plant/NDEATH/{NODE}", b"") == []
    with pytest.raises(BadBrokerMessage, match="no birth"):
        told(reader, f"spBv1.0/plant/NDATA/{NODE}", minus_two)
    assert told(reader, f"spBv1.0/plant/NCMD/{NODE}", b"whatever") == []


def mapping(**more) -> PayloadMapping:
    said = {"topic": "site/{room}/+", "path": "v", "kind": "co2", "identity": "{room}.co2"}
    return PayloadMapping(**(said | more))


@pytest.mark.parametrize(
    ("said", "topic", "data", "found"),
    [
        ({}, "site/A/x", b'{"v": 612}', ("A.co2", "co2", 612.0, "", None)),
        (
            {"path": "", "scale": 0.1, "offset": -4, "unit": "ppb"},
            "site/A/x",
            b"120",
            ("A.co2", "co2", 8.0, "ppb", None),
        ),
        (
            {"path": "data[1].v", "identity": "{dev.id}-{room}"},
            "site/A/x",
            b'{"data": [0, {"v": "7"}], "dev": {"id": 12}}',
            ("12-A", "co2", 7.0, "", None),
        ),
        (
            {"time_path": "t", "time_form": "ms"},
            "site/A/x",
            b'{"v": true, "t": 1700000000500}',
            ("A.co2", "co2", 1.0, "", 1_700_000_000.5),
        ),
        (
            {"time_path": "t", "time_form": "iso"},
            "site/A/x",
            b'{"v": 1, "t": "1970-01-01T01:00:00+01:00"}',
            ("A.co2", "co2", 1.0, "", 0.0),
        ),
    ],
)
def test_a_mapping_finds_value_identity_and_time(said, topic, data, found):
    assert told(PayloadReader([mapping(**said)]), topic, data) == [found]


def test_several_mappings_read_one_message_and_each_may_lack_its_field():
    reader = PayloadReader([mapping(), mapping(path="w", kind="noise", identity="{room}.noise")])
    both = told(reader, "site/A/x", b'{"v": 1, "w": 2}')
    assert [row[:3] for row in both] == [("A.co2", "co2", 1.0), ("A.noise", "noise", 2.0)]
    assert [row[1] for row in told(reader, "site/A/x", b'{"w": 2}')] == ["noise"]
    with pytest.raises(BadBrokerMessage, match="no mapping"):
        told(reader, "site/A/x", b'{"x": 2}')


def test_a_mapping_can_name_the_family_of_a_topic():
    reader = PayloadReader([PayloadMapping("attic/#", "zigbee2mqtt")])
    assert reader.filters == ("attic/#",)
    assert told(reader, "attic/bath", b'{"water_leak": false}')[0][:3] == ("bath", "water", 0.0)


@pytest.mark.parametrize(
    "said",
    [
        {"topic": ""},
        {"topic": "a/{b}/{b}"},
        {"topic": "a/#/b"},
        {"topic": "a/x{b}"},
        {"path": "a..b"},
        {"path": "a["},
        {"identity": ""},
        {"kind": ""},
        {"scale": 0.0},
        {"scale": float("nan")},
        {"time_form": "ms"},
        {"time_path": "t"},
        {"family": "morse"},
        {"identity": "{a..b}"},
    ],
)
def test_a_mapping_that_cannot_be_is_refused(said):
    with pytest.raises(BadConfig):
        PayloadReader([mapping(**said)])


@pytest.mark.parametrize(
    ("pattern", "topic", "found"),
    [
        ("a/{b}/c", "a/x/c", {"b": "x"}),
        ("a/{b}/c", "a/x/d", None),
        ("a/{b}/c", "a/x", None),
        ("a/#", "a", {}),
        ("a/#", "a/b/c", {}),
        ("a/+/{c}", "a/b/", {"c": ""}),
        ("#", "$SYS/x", None),
    ],
)
def test_patterns_of_topics(pattern, topic, found):
    assert read_pattern(pattern).match(topic) == found


def test_paths_and_templates_pick():
    assert picked({"a.b": [{"c": 1}]}, read_path("['a.b'][0].c")) == 1
    assert picked({"a": "text"}, read_path("a[0]")) is None
    assert read_template("{{ value_json.a['b'][2] | float }}").path == ("a", "b", 2)
    for text in ("{{ value_json.a + 1 }}", "{{ states('x') }}", "{{ value.a }}", 7, "x" * 5_000):
        with pytest.raises(BadBrokerMessage):
            read_template(text)


words = st.sampled_from(
    sorted(
        {
            "temperature",
            "contact",
            "ENERGY",
            "Power",
            "Time",
            "TempUnit",
            "Wifi",
            "Signal",
            "object",
        }
        | {"uplink_message", "decoded_payload", "received_at", "deviceInfo", "last_seen", "voltage"}
        | {"state_topic", "stat_t", "~", "val_tpl", "dev_cla", "cmps", "dev", "pl_on", "uniq_id"}
        | {
            "temperature_1",
            "POWER1",
            "StatusSNS",
            "last_battery_percentage",
            "batteryLevel",
            "time",
        }
    )
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["ON", "temperature", "{{ value_json.x }}", "2026-11-22T16:30:00", "~/a"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(words | st.text(), inner, max_size=6)
    ),
    max_leaves=25,
)
topics = st.sampled_from(
    [
        *("zigbee2mqtt/a", "zigbee2mqtt/a/b", "tele/a/SENSOR", "tele/a/STATE", "stat/a/STATUS10"),
        *("homeassistant/sensor/a/config", "homeassistant/binary_sensor/n/a/config"),
        *("homeassistant/device/a/config", "v3/a@t/devices/d/up", "spBv1.0/g/NBIRTH/n"),
        *("application/a/device/d/event/up", "application/a/device/d/event/status"),
        *("spBv1.0/g/DDATA/n/d", "~/a", "temperature", "site/A/x", "own"),
    ]
)
payloads = st.one_of(
    anything.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=60),
    st.text(max_size=20).map(str.encode),
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["a/temperature", "humidity", "contact"]),
                "alias": st.integers(0, 3),
                "datatype": st.integers(0, 2**32 - 1),
                "timestamp": st.integers(0, 2**64 - 1),
                "int_value": st.integers(0, 2**32 - 1),
                "double_value": st.floats(),
                "boolean_value": st.booleans(),
            },
        ),
        max_size=4,
    ).map(encoded),
)


@given(st.lists(st.tuples(topics, payloads), max_size=6))
def test_any_payload_is_read_or_refused(messages):
    reader = PayloadReader([mapping()], "#", BERLIN)
    for topic, data in messages:
        try:
            batch = reader.read(Message(topic, data, NOW_S))
        except AspenError:
            continue
        for one in getattr(batch, "measured", ()):
            assert one.quantity
            assert isinstance(one.value, float)
            assert one.value == one.value
            assert abs(one.value) != float("inf")


def test_every_family_has_a_corpus():
    assert {path.stem for path in FILES} | {"sparkplug"} == {one.key for one in CLASSES}
