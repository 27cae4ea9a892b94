"""All families; they are asked in this order whether a message is theirs."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from smartcis.wrappers.payloads.chirpstack import ChirpStack
from smartcis.wrappers.payloads.home_assistant import HomeAssistant
from smartcis.wrappers.payloads.protocol import Family
from smartcis.wrappers.payloads.sparkplug import SparkplugB
from smartcis.wrappers.payloads.tasmota import Tasmota
from smartcis.wrappers.payloads.things_network import ThingsNetwork
from smartcis.wrappers.payloads.zigbee2mqtt import Zigbee2Mqtt

CLASSES = (Zigbee2Mqtt, Tasmota, ThingsNetwork, ChirpStack, SparkplugB, HomeAssistant)
# Home Assistant last: it is told of topics that others publish, and they know more of them.

OWN, FIELDS = "own", "fields"
CHOICES = (
    (FIELDS, "One value, as this mapping says"),
    *((one.key, one.label) for one in CLASSES),
    (OWN, "Our own readings"),
)


def families(zone: ZoneInfo | None) -> dict[str, Family]:
    """Returns one of each for a source, by key.

    Args:
        zone: of devices that send local time; None for not known.
    """
    return {one.key: one(zone) if one is Tasmota else one() for one in CLASSES}
