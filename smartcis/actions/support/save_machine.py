"""Save a machine: with its software, its desk, and what stands where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from smartcis.actions.support.checked import checked
from smartcis.actions.support.stand import Stand, clear_away, put
from smartcis.errors import Invalid
from smartcis.models import Machine, SeenDevice, SoftwareInstall, Source
from smartcis.models.equal import make_equal
from smartcis.models.source import followed


@transaction.atomic
def save_machine(
    machine: Machine, stand: Stand | None, software: Iterable[str] | None = None
) -> Machine:
    """Returns the machine, saved.

    Args:
        machine: with its new values.
        stand: where it stands from now on; None where it stood.
        software: all that is installed on it; None for what was.

    Raises:
        Invalid: a value that cannot be, or a program that a source says is there is left out.
    """
    stood = Machine.objects.filter(pk=machine.pk).select_related("desk__node").first()
    if stand is not None:
        put(machine, stand)
    with checked({"mid": machine.pk}), followed(Source.objects.filter(machine=machine.pk)):
        machine.full_clean(validate_unique=False)
        machine.save()
    if software is not None:
        _install(machine, list(software))
    if stood is not None and stand is not None:
        _take_along(machine)
        clear_away(stood.desk)
    return machine


def _install(machine: Machine, software: list[str]) -> None:
    called = SoftwareInstall._meta.get_field("software")  # noqa: SLF001  # public despite its name
    for name in software:
        with checked({"software": name}):
            called.clean(name, None)
    held = SoftwareInstall.objects.filter(machine=machine)
    for one in held.exclude(source=None).exclude(software__in=software):
        raise Invalid(
            f"{one.source_id} says that {one.software} is installed on {machine.pk}",
            found=one.software,
            attempt="change that list, or switch the source off",
        )
    wanted = {
        (machine.pk, name): {"simulated": machine.simulated} for name in dict.fromkeys(software)
    }
    kept = set(held.values_list("machine_id", "software"))
    make_equal(held, wanted | {key: {} for key in kept & set(wanted)}, "machine_id", "software")


def _take_along(machine: Machine) -> None:
    """Moves what has its place from the machine."""
    for sensor in machine.sensors.all():
        sensor.machine = machine
        sensor.save()
    SeenDevice.objects.filter(machine=machine).update(unit=machine.unit)
