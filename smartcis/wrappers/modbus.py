"""Modbus TCP: registers of a controller or a gateway, each a quantity of a device.

    {"register": 40, "type": "float32", "kind": "temperature", "unit": "°F"}
    read_holding_registers(40, 2) ── 4 bytes ── value · scale + offset ──> measured

Law:        a register that is refused, or holds no number, is named and costs the others nothing;
            a server that does not answer rightly is down.
Source:     MODBUS Application Protocol 1.1b3, sections 6.1 to 6.4.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smartcis.outbound import AddressRefused, connected
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField, described, port_of
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown, reason_of
from smartcis.wrappers.protocol import Append, Capability, Measured, Measurements
from smartcis.wrappers.push import READINGS

if TYPE_CHECKING:
    from pymodbus.client import ModbusTcpClient

PORT = 502
LAST_UNIT, LAST_REGISTER = 255, 65_535
ANSWER_S = 3.0
RETRIES = 1
WORDS = {"uint16": 1, "int16": 1, "uint32": 2, "int32": 2, "float32": 2}
BITS = ("coil", "discrete")
FUNCTIONS = {"coil": 1, "discrete": 2, "holding": 3, "input": 4}
REGISTER = (
    ConfigField("register", "whole", "its address, from 0", required=True),
    ConfigField("kind", "text", "of sensor", required=True),
    ConfigField("table", "holding|input|coil|discrete", "where it is", default="holding"),
    ConfigField("type", "|".join(WORDS), "how its 16-bit words are read"),
    ConfigField("word_order", "big|little", "which of two words comes first", default="big"),
    ConfigField("unit", "text", "of the value; empty for the kind's own"),
    ConfigField("scale", "number", "what the value is multiplied with", default=1.0),
    ConfigField("offset", "number", "what is added afterwards", default=0.0),
    ConfigField("device", "text", "whose it is; empty for the source's id"),
)


@dataclass(frozen=True, slots=True)
class ModbusRegister:
    """One value of a server; see `REGISTER`."""

    register: int
    kind: str
    table: str
    type: str
    word_order: str
    unit: str
    scale: float
    offset: float
    device: str

    @property
    def bit(self) -> bool:
        """Whether it is on or off."""
        return self.table in BITS

    def read(self, client: ModbusTcpClient, unit: int) -> float:
        """Asks a server for its value.

        Raises:
            BadRow: it has none.
        """
        if self.bit:
            ask = client.read_coils if self.table == "coil" else client.read_discrete_inputs
            answer = ask(self.register, count=1, device_id=unit)
        else:
            holding = self.table == "holding"
            ask = client.read_holding_registers if holding else client.read_input_registers
            answer = ask(self.register, count=WORDS[self.type], device_id=unit)
        if answer.isError():
            code = getattr(answer, "exception_code", "")
            raise BadRow(f"{self.table} {self.register} is refused: exception {code}")
        if answer.function_code != FUNCTIONS[self.table]:
            raise BadRow(f"{self.table} {self.register} is answered with something else")
        raw = float(answer.bits[0]) if self.bit else self._number(client, answer.registers)
        value = raw * self.scale + self.offset
        if not math.isfinite(value):
            raise BadRow(f"{self.table} {self.register} holds no number")
        return value

    def _number(self, client: ModbusTcpClient, words: Sequence[int]) -> float:
        if len(words) != WORDS[self.type]:
            raise BadRow(f"{self.table} {self.register} gave {len(words)} words")
        kind = client.DATATYPE[self.type.upper()]
        order: Any = self.word_order
        found: Any = client.convert_from_registers(words, kind, word_order=order)
        return float(found)


class ModbusServer(Poller):
    """One unit of a server."""

    key = "modbus"
    label = "Modbus TCP"
    fields = (
        ConfigField("host", "text", "name or address", required=True),
        ConfigField("port", "whole", "502 unless said", default=PORT),
        ConfigField("unit", "whole", "the unit behind the address, 1 unless said", default=1),
        ConfigField(
            "registers",
            "objects",
            'what is read: [{"register": 40, "type": "float32", "kind": "temperature"}, '
            '{"register": 7, "table": "coil", "kind": "door", "device": "gate"}]; also table '
            "(holding, input, coil, discrete), type (uint16, int16, uint32, int32, float32), "
            "word_order, unit, scale, offset",
            required=True,
        ),
    )
    period_s = 10.0
    feeds = READINGS
    capabilities = (Capability.POLL, Capability.SAMPLE)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._host, self._port = str(config["host"]), port_of(config)
        self._unit = int(config["unit"])
        if not 0 <= self._unit <= LAST_UNIT:
            raise BadConfig("a unit lies between 0 and 255", found=str(self._unit))
        self._registers = [
            _register(one, number) for number, one in enumerate(config["registers"], start=1)
        ]
        named = [(one.device, one.kind) for one in self._registers]
        for number, name in enumerate(named, start=1):
            if name in named[: number - 1]:
                raise BadConfig(
                    f"number {number}: there is a {name[1]} of that device already",
                    found=name[0] or "the source's own",
                    attempt="give one of the two another device",
                )

    def _read(self, append: Append, now_s: float) -> list[str]:
        from pymodbus.client import ModbusTcpClient  # noqa: PLC0415  # only who asks one needs it
        from pymodbus.exceptions import ModbusException  # noqa: PLC0415

        measured, warnings = [], []
        try:
            socket = connected(self._host, self._port, ANSWER_S)
            with socket:
                # Should it connect again: to the address that was asked about, not to the name.
                address = socket.getpeername()[0]
                client = ModbusTcpClient(
                    address, port=self._port, timeout=ANSWER_S, retries=RETRIES
                )
                client.socket = socket
                with client:
                    for one in self._registers:
                        try:
                            value = one.read(client, self._unit)
                        except BadRow as bad:
                            warnings.append(f"{bad.code}: {bad.message}")
                            continue
                        device = one.device or self.settings.source
                        measured.append(Measured(device, one.kind, value, one.unit, now_s))
        except AddressRefused as refused:
            raise SourceDown(refused.message, found=refused.found) from refused
        except (ModbusException, OSError) as error:
            raise SourceDown(f"the server does not answer: {reason_of(error)[:120]}") from error
        except (struct.error, LookupError, ValueError, TypeError) as error:
            raise SourceDown(f"the server's answer is no Modbus: {reason_of(error)}") from error
        if not measured:
            raise SourceDown(warnings[0])
        return warnings + self._append(append, Measurements("", measured, now_s))


def _register(one: Mapping[str, Any], number: int) -> ModbusRegister:
    """Returns what an operator said of a register.

    Raises:
        BadConfig: naming its place in the list.
    """
    whole = described("modbus register", one, REGISTER, number)
    found = ModbusRegister(**whole)
    last = found.register + (0 if found.bit else WORDS.get(found.type, 1) - 1)
    if not 0 <= found.register <= last <= LAST_REGISTER:
        raise BadConfig(f"number {number}: there is no such register", found=str(found.register))
    if found.bit == bool(found.type):
        raise BadConfig(
            f"number {number}: registers have a type, coils and discrete inputs have none",
            found=found.type or "none",
            exists=list(WORDS),
        )
    return found
