"""Home Assistant discovery: devices say where their values are, and in which unit.

    homeassistant/sensor/kitchen/co2/config
        {"stat_t": "~/state", "~": "home/kitchen", "val_tpl": "{{ value_json.co2 }}",
         "unit_of_meas": "ppm", "dev_cla": "carbon_dioxide", "uniq_id": "k1_co2"}
    home/kitchen/state
        {"co2": 612}

Memory:     what every configuration of the source said last, `CONFIGURED` of them; brokers keep
            configurations, so it fills again with each connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

from aspen.errors import AspenError
from smartcis.json_text import decoded
from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.fields import field_named, number
from smartcis.wrappers.payloads.protocol import PAYLOAD_BYTES, Message
from smartcis.wrappers.payloads.template import PayloadTemplate, read_template
from smartcis.wrappers.protocol import Measured

PREFIX = "homeassistant"
CONFIGURED = 5_000
TOPIC_LENGTH = 200
COMPONENTS = ("sensor", "binary_sensor")
SHORT = {
    "state_topic": "stat_t",
    "value_template": "val_tpl",
    "unit_of_measurement": "unit_of_meas",
    "device_class": "dev_cla",
    "unique_id": "uniq_id",
    "payload_on": "pl_on",
    "payload_off": "pl_off",
    "device": "dev",
    "identifiers": "ids",
    "components": "cmps",
    "platform": "p",
}
CLASSES = {
    "temperature": "temperature",
    "humidity": "humidity",
    "pressure": "pressure",
    "atmospheric_pressure": "pressure",
    "carbon_dioxide": "co2",
    "volatile_organic_compounds_parts": "voc",
    "pm25": "pm25",
    "pm10": "pm10",
    "illuminance": "light",
    "occupancy": "presence",
    "motion": "presence",
    "presence": "presence",
    "door": "door",
    "window": "door",
    "opening": "door",
    "garage_door": "door",
    "moisture": "water",
    "smoke": "smoke",
    "sound_pressure": "noise",
    "battery": "battery",
    "voltage": "voltage",
    "current": "current",
    "power": "power",
    "energy": "consumption",
    "signal_strength": "signal",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """One value that a configuration describes.

    Args:
        words: payloads that mean on and off, of a binary sensor; empty for a number.
    """

    device: str
    name: str
    quantity: str
    unit: str
    topic: str
    template: PayloadTemplate
    words: tuple[str, ...] = ()

    def measured(self, text: str, payload: Any) -> Measured | None:
        """Returns what it says in a message, None for nothing."""
        value = self.template.pick(text, payload)
        if self.words:
            said = value if isinstance(value, str) else str(value)
            found = float(said == self.words[0]) if said in self.words else None
        else:
            found = number(value)
            found = found if found is None else found * self.template.factor
        if found is None:
            return None
        return Measured(self.device, self.quantity, found, self.unit, None, self.name)


class HomeAssistant:
    """Devices that announce themselves to Home Assistant."""

    key: ClassVar[str] = "homeassistant"
    label: ClassVar[str] = "Home Assistant discovery"
    filters: ClassVar[tuple[str, ...]] = ("homeassistant/#",)

    def __init__(self) -> None:
        self._entities: dict[str, tuple[Entity, ...]] = {}  # by the configuration's topic
        self._on: dict[str, dict[str, tuple[Entity, ...]]] = {}  # by topic of their values

    @property
    def follows(self) -> AbstractSet[str]:
        """Where the values of all configurations are."""
        return self._on.keys()

    def recognises(self, message: Message) -> bool:
        """Returns whether it is a configuration, or on a topic that one of them named."""
        return _is_config(message.levels) or message.topic in self._on

    def read(self, message: Message) -> Sequence[Measured]:
        """Takes a configuration in, or returns what its entities say; see `Family`."""
        if _is_config(message.levels):
            self._configure(message)
            return ()
        text = message.data[:PAYLOAD_BYTES].decode(errors="replace")
        try:
            payload = decoded(message.data, PAYLOAD_BYTES)
        except AspenError:
            payload = None  # a bare word is no JSON, and need not be
        entities = [e for group in self._on.get(message.topic, {}).values() for e in group]
        found = (one.measured(text, payload) for one in entities)
        return [one for one in found if one is not None]

    def _configure(self, message: Message) -> None:
        self._forget(message.topic)
        if not message.data:
            return  # an empty configuration takes the device away
        if len(self._entities) >= CONFIGURED:
            raise BadBrokerMessage(f"more than {CONFIGURED} configurations", found=message.topic)
        entities = tuple(_entities(message))
        if entities:
            self._entities[message.topic] = entities
        for one in entities:
            self._on.setdefault(one.topic, {})[message.topic] = tuple(
                other for other in entities if other.topic == one.topic
            )

    def _forget(self, config: str) -> None:
        for one in self._entities.pop(config, ()):
            named = self._on.get(one.topic, {})
            named.pop(config, None)
            if not named:
                self._on.pop(one.topic, None)


def quantity_of(device_class: object, names: Sequence[str]) -> str:
    """Returns what an entity measures, by its class, else by its names; empty for unknown."""
    if isinstance(device_class, str) and device_class:
        return CLASSES.get(device_class, "")
    fields = [field_named(name) for name in names]
    return next((field.quantity for field in fields if field and not field.inverted), "")


def _is_config(levels: Sequence[str]) -> bool:
    return len(levels) in (4, 5) and levels[0] == PREFIX and levels[-1] == "config"


def _entities(message: Message) -> Iterator[Entity]:
    _, component, *names, _ = message.levels
    config, device = message.object(), "_".join(names)
    base = config.get("~")
    several = _said(config, "components")
    if component == "device" and isinstance(several, Mapping):
        for name, own in several.items():
            if isinstance(own, Mapping) and _said(own, "platform") in COMPONENTS:
                whole = {**config, **own}
                yield from _entity(whole, base, str(_said(own, "platform")), f"{device}_{name}")
    elif component in COMPONENTS:
        yield from _entity(config, base, component, device)


def _entity(config: Mapping[str, Any], base: Any, component: str, own: str) -> Iterator[Entity]:
    template = read_template(_said(config, "value_template"))
    quantity = _quantity(config, template, own)
    binary = component == "binary_sensor"
    if not quantity or (binary and quantity == "battery"):  # which says low, not how much
        return
    unit, named = _said(config, "unit_of_measurement"), _said(config, "unique_id")
    device = _said(config, "device")
    title = device.get("name") if isinstance(device, Mapping) else None
    on, off = _said(config, "payload_on"), _said(config, "payload_off")
    words = ("ON" if on is None else str(on), "OFF" if off is None else str(off))
    yield Entity(
        named if isinstance(named, str) and named else own,
        title if isinstance(title, str) else "",
        quantity,
        unit if isinstance(unit, str) else "",
        _topic(_said(config, "state_topic"), base),
        template,
        words if binary else (),
    )


def _quantity(config: Mapping[str, Any], template: PayloadTemplate, own: str) -> str:
    names = [step for step in template.path[-1:] if isinstance(step, str)]
    return quantity_of(_said(config, "device_class"), (*names, own.rpartition("_")[2]))


def _topic(topic: object, base: object) -> str:
    if not isinstance(topic, str) or not topic:
        raise BadBrokerMessage("a configuration needs a state_topic", found=repr(topic)[:40])
    if isinstance(base, str):
        if topic.startswith("~"):
            topic = base + topic[1:]
        elif topic.endswith("~"):
            topic = topic[:-1] + base
    if not 0 < len(topic) <= TOPIC_LENGTH or any(one in topic for one in "+#"):
        raise BadBrokerMessage("a state_topic names one topic", found=topic[:80])
    return topic


def _said(config: Mapping[str, Any], name: str) -> Any:
    value = config.get(name)
    return config.get(SHORT[name]) if value is None else value
