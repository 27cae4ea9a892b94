"""Kinds of source as rows: what each is called, what it feeds, which fields set it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smartcis.wrappers.calendar import Calendar
from smartcis.wrappers.config import ConfigField, checked
from smartcis.wrappers.engine import EngineSource
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.host import Host
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.pdu import Pdu
from smartcis.wrappers.protocol import Poller, Settings, Wrapper
from smartcis.wrappers.push import READINGS, ROWS, PushGateway
from smartcis.wrappers.software import SoftwareList
from smartcis.wrappers.table import DatabaseTable

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class WrapperKind:
    """One kind of source.

    Args:
        key: as `Source.kind` stores it.
        label: for people.
        relations: names of what it feeds; empty where the config declares them.
        fields: what sets it up.
        period_s: proposed seconds between two words of it.
        reader: makes the wrapper that listens until it is ended, from settings and a clock (wall
            time, seconds since the epoch); None where nothing listens.
        poller: makes the wrapper that asks, likewise; None where nothing is asked.
        caller: makes the wrapper that waits for calls to this server, likewise.
    """

    key: str
    label: str
    relations: tuple[str, ...]
    fields: tuple[ConfigField, ...]
    period_s: float
    reader: Callable[[Settings, Clock], Wrapper] | None = None
    poller: Callable[[Settings, Clock], Poller] | None = None
    caller: Callable[[Settings, Clock], Wrapper] | None = None

    @property
    def make(self) -> Callable[[Settings, Clock], Wrapper]:
        """What makes its wrapper.

        Raises:
            BadConfig: nothing does.
        """
        made = self.reader or self.poller or self.caller
        if made is None:
            raise BadConfig(f"nobody reads {self.key} sources")
        return made

    def checked(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a config with every field, defaults filled in.

        Raises:
            BadConfig: an unknown, missing or malformed field.
        """
        return checked(self.key, self.fields, config)


KINDS: tuple[WrapperKind, ...] = (
    WrapperKind(
        "mqtt",
        "MQTT broker",
        READINGS,
        (
            ConfigField("topic", "text", "topic filter, e.g. building/+/readings", required=True),
            ConfigField("url", "text", "mqtt://[user:password@]host[:port]; empty for MQTT_URL"),
        ),
        10.0,
        reader=MqttBroker,
    ),
    WrapperKind(
        "calendar",
        "iCalendar",
        ("reservation",),
        (
            ConfigField("url", "url", "address of the .ics feed"),
            ConfigField(
                "file", "text", "or the name of a file in the folder `sources` of SMARTCIS_VAR"
            ),
            ConfigField("zone", "zone", "zone of times that name none", default="UTC"),
            ConfigField(
                "rooms", "names", "LOCATION as the calendar writes it → room id", default={}
            ),
        ),
        300.0,
        poller=Calendar,
    ),
    WrapperKind(
        "pdu",
        "Power distribution unit (web page)",
        ("pdu_power",),
        (
            ConfigField("url", "url", "address of the page", required=True),
            ConfigField(
                "pattern",
                "pattern",
                "regular expression with the groups outlet and watts, for lines such as "
                "`3 | Mill | 41.5 W`; empty for the usual",
            ),
            ConfigField("outlets", "names", "outlet → machine id", default={}),
        ),
        10.0,
        poller=Pdu,
    ),
    WrapperKind(
        "software",
        "Software list (web page)",
        ("machine_software",),
        (
            ConfigField("url", "url", "address of the page", required=True),
            ConfigField(
                "pattern",
                "pattern",
                "regular expression with the group software, and host where several machines are "
                "listed; empty for the usual",
            ),
            ConfigField("machines", "names", "host as the page writes it → machine id", default={}),
        ),
        600.0,
        poller=SoftwareList,
    ),
    WrapperKind(
        "table",
        "Table of another database",
        (),
        (
            ConfigField(
                "database",
                "text",
                "sqlite:////path/file or postgres://user:password@host/name; env:NAME reads it "
                "from the environment",
                required=True,
            ),
            ConfigField("table", "text", "table or view, perhaps with its schema", required=True),
            ConfigField(
                "key", "text", "columns that identify a row, parted by commas", required=True
            ),
            ConfigField("version", "text", "a column that grows with every change; empty for none"),
            ConfigField(
                "relation",
                "text",
                "what the rows become: a new name, machine_software or reservation",
                required=True,
            ),
            ConfigField(
                "columns",
                "columns",
                'for a new name: [{"name": "id", "type": "TEXT"}, {"name": "watts", "type": '
                '"FLOAT", "unit": "W", "nullable": true}]',
                default=[],
            ),
            ConfigField("comment", "text", "one line for the schema browser"),
        ),
        60.0,
        poller=DatabaseTable,
    ),
    WrapperKind(
        "push",
        "Gateway that pushes (HTTP with token)",
        (*READINGS, *ROWS),
        (
            ConfigField(
                "account",
                "text",
                "account its token belongs to; `manage.py issue_token NAME` makes both",
                required=True,
            ),
        ),
        10.0,
        caller=PushGateway,
    ),
    WrapperKind(
        "host",
        "This computer (soft sensors)",
        ("host_load", "host_process"),
        (
            ConfigField("host", "text", "its name; empty for what it calls itself"),
            ConfigField("access_log", "text", "a web server's log whose lines are counted"),
        ),
        10.0,
        poller=Host,
    ),
    WrapperKind(
        "engine",
        "AspEN itself",
        ("engine_load", "view_load", "sys_epochs"),
        (),
        10.0,
        poller=EngineSource,
    ),
)

_BY_KEY = {kind.key: kind for kind in KINDS}


def kind_of(key: str) -> WrapperKind:
    """Returns a kind by its key.

    Raises:
        BadConfig: there is none of that name.
    """
    if key not in _BY_KEY:
        raise BadConfig(f"there is no kind of source {key!r}", found=key, exists=list(_BY_KEY))
    return _BY_KEY[key]
