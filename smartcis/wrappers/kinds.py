"""Kinds of source: a wrapper each."""

from __future__ import annotations

from smartcis.wrappers.bacnet import BacnetDevice
from smartcis.wrappers.base import Wrapper
from smartcis.wrappers.calendar import Calendar
from smartcis.wrappers.engine import EngineSource
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.home_assistant import HomeAssistantSocket
from smartcis.wrappers.host import Host
from smartcis.wrappers.modbus import ModbusServer
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.pdu import Pdu
from smartcis.wrappers.push import PushGateway
from smartcis.wrappers.recording import Recording
from smartcis.wrappers.software import SoftwareList
from smartcis.wrappers.table import DatabaseTable

KINDS: tuple[type[Wrapper], ...] = (
    MqttBroker,
    HomeAssistantSocket,
    ModbusServer,
    BacnetDevice,
    Calendar,
    Pdu,
    SoftwareList,
    DatabaseTable,
    Recording,
    PushGateway,
    Host,
    EngineSource,
)

_BY_KEY = {kind.key: kind for kind in KINDS}


def kind_of(key: str) -> type[Wrapper]:
    """Returns a kind by its key.

    Raises:
        BadConfig: there is none of that name.
    """
    if key not in _BY_KEY:
        raise BadConfig(f"there is no kind of source {key!r}", found=key, exists=list(_BY_KEY))
    return _BY_KEY[key]
