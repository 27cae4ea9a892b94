"""BACnet client: properties of one device, over UDP to it alone.

Not imported before a device is asked: bacpypes3 takes a second and 20 MB.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bacpypes3.apdu import AbortReason, ErrorRejectAbortNack
from bacpypes3.app import Application
from bacpypes3.appservice import ApplicationServiceAccessPoint
from bacpypes3.comm import bind
from bacpypes3.errors import ExecutionError
from bacpypes3.ipv4.link import NormalLinkLayer
from bacpypes3.local.device import DeviceObject
from bacpypes3.netservice import NetworkServiceAccessPoint, NetworkServiceElement
from bacpypes3.pdu import Address, IPv4Address
from bacpypes3.primitivedata import ObjectIdentifier
from bacpypes3.service.device import WhoIsIAmServices
from bacpypes3.service.object import ReadWritePropertyServices

from smartcis.wrappers.errors import BadRow, SourceDown

ANSWER_MS = 2_000
RETRIES = 1
WHO_S = 2
OURSELVES = 4_194_302  # the greatest number of a device; nobody is told it
ANY_DEVICE = 4_194_303  # a device answers for itself under this number
NO_ANSWER = (AbortReason.noResponse, AbortReason.tsmTimeout)


class _Application(Application, WhoIsIAmServices, ReadWritePropertyServices):  # type: ignore[misc]  # untyped
    """A stack that asks one device; its own classes take any address and open a port to all."""

    def __init__(self, local: IPv4Address, opened: socket.socket) -> None:
        super().__init__()
        ourselves = DeviceObject(
            objectIdentifier=("device", OURSELVES),
            objectName="client",
            vendorIdentifier=0,
            apduTimeout=ANSWER_MS,
            numberOfApduRetries=RETRIES,
        )
        self.asap = ApplicationServiceAccessPoint(ourselves, self.device_info_cache)
        self.nsap = NetworkServiceAccessPoint()
        self.nse = NetworkServiceElement()
        bind(self.nse, self.nsap)
        bind(self, self.asap, self.nsap)
        self.link = NormalLinkLayer(local, bind_socket=opened)
        self.nsap.bind(self.link, address=local)
        self.add_object(ourselves)

    def close(self) -> None:
        """Ends it."""
        self.link.close()


class BacnetClient:
    """Reads one device.

    Args:
        application: the stack.
        address: of the device.
    """

    def __init__(self, application: _Application, address: Address) -> None:
        self._application, self._address = application, address

    async def read(self, thing: str, name: str, index: int | None = None) -> Any:
        """Returns a property of an object.

        Raises:
            BadRow: the device refuses it.
            SourceDown: the device does not answer.
        """
        try:
            found = await self._application.read_property(self._address, thing, name, index)
        except ErrorRejectAbortNack as nack:
            found = nack
        except ExecutionError as error:
            raise BadRow(f"{thing} has no readable {name}: {error}") from error
        if isinstance(found, ErrorRejectAbortNack):
            if getattr(found, "apduAbortRejectReason", None) in NO_ANSWER:
                raise SourceDown("the device does not answer")
            raise BadRow(f"{thing} refuses its {name}: {found}")
        if found is None:
            raise BadRow(f"{thing} answers something else than its {name}")
        return found

    async def objects(self) -> list[str]:
        """Returns the names of all objects of the device, such as `analog-input,1`."""
        device = await self._device()
        try:
            found = await self.read(device, "object-list")
        except BadRow:  # too long for one answer
            count = int(await self.read(device, "object-list", 0))
            found = [await self.read(device, "object-list", n + 1) for n in range(count)]
        return [str(one) for one in found]

    async def _device(self) -> str:
        """Returns the device's own object.

        Raises:
            BadRow: it does not say which it is.
        """
        try:
            return str(await self.read(f"device,{ANY_DEVICE}", "object-identifier"))
        except BadRow:  # older ones answer under their own number alone
            heard = await self._application.who_is(address=self._address, timeout=WHO_S)
        if not heard:
            raise BadRow("the device does not say its number")
        return str(heard[0].iAmDeviceIdentifier)


def object_named(text: str) -> str:
    """Returns the name of an object as the standard spells it.

    >>> object_named("analogInput,1")
    'analog-input,1'

    Raises:
        ValueError: it is none.
    """
    return str(ObjectIdentifier(text.replace(":", ",").replace(" ", "")))


@asynccontextmanager
async def bacnet_client(address: str, port: int) -> AsyncIterator[BacnetClient]:
    """Opens a client; the kernel keeps datagrams of anybody else away from it."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    opened.connect((address, port))
    # Without a port of its own in the address, the library opens none for broadcasts.
    application = _Application(IPv4Address(f"{opened.getsockname()[0]}:0"), opened)
    try:
        yield BacnetClient(application, Address(f"{address}:{port}"))
    finally:
        application.close()
        opened.close()
