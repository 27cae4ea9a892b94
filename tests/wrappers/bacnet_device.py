"""A BACnet device in a process of its own: `bacnet_device.py PORT` until it is ended."""

from __future__ import annotations

import asyncio
import sys

from bacpypes3.app import Application
from bacpypes3.local.analog import AnalogInputObject, AnalogOutputObject, AnalogValueObject
from bacpypes3.local.binary import BinaryInputObject, BinaryValueObject
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.networkport import NetworkPortObject

OBJECTS = [
    AnalogInputObject(
        objectIdentifier="analog-input,1",
        objectName="Kitchen air",
        presentValue=21.5,
        units="degreesCelsius",
    ),
    AnalogInputObject(
        objectIdentifier="analog-input,2",
        objectName="Kitchen air, US",
        presentValue=212.0,
        units="degreesFahrenheit",
    ),
    AnalogValueObject(
        objectIdentifier="analog-value,1",
        objectName="Setpoint",
        presentValue=3.0,
        units="noUnits",
    ),
    AnalogValueObject(
        objectIdentifier="analog-value,2",
        objectName="Kitchen CO2",
        presentValue=float("nan"),
        units="partsPerMillion",
    ),
    AnalogOutputObject(
        objectIdentifier="analog-output,1",
        objectName="Valve",
        presentValue=50.0,
        units="percent",
        covIncrement=1.0,
    ),
    BinaryInputObject(
        objectIdentifier="binary-input,1", objectName="Kitchen occupancy", presentValue="active"
    ),
    BinaryValueObject(objectIdentifier="binary-value,1", objectName="Fan", presentValue="inactive"),
]


async def main(port: int) -> None:
    device = DeviceObject(
        objectIdentifier="device,7", objectName="AHU 7", vendorIdentifier=999, vendorName="Test"
    )
    where = NetworkPortObject(
        f"127.0.0.1:{port}", objectIdentifier="network-port,1", objectName="port"
    )
    application = Application.from_object_list([device, where, *OBJECTS])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Future()
    application.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
