"""Begin an import: keep the file, and have it read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.later import have_done
from smartcis.errors import Invalid, Unavailable
from smartcis.models import BuildingImport

NAME_LENGTH = 120
MOST_WAITING = 10


@transaction.atomic
def begin_import(
    name: str, pieces: Iterable[bytes], owner: Owner, *, add: bool = False
) -> BuildingImport:
    """Keeps a building's file and has it read; nothing of the building changes yet.

    Args:
        name: of the file; its ending may tell an archive.
        pieces: its bytes.
        owner: staff.
        add: whether its building comes beside those that are there.

    Raises:
        Refused: the owner is no staff.
        Invalid: too many files wait to be accepted.
        Unavailable: the disk does not take it.
    """
    owner.require_staff("import buildings")
    waiting = BuildingImport.objects.filter(
        state__in=(BuildingImport.State.READY, *BuildingImport.BUSY)
    )
    if waiting.count() >= MOST_WAITING:
        raise Invalid(
            "too many imports are neither accepted nor removed",
            found=str(waiting.count()),
            exists=[f"up to {MOST_WAITING}"],
            attempt="remove those that are not needed",
        )
    plain = "".join(sign for sign in PurePath(name).name if sign.isprintable()).lstrip(".")
    made = BuildingImport.objects.create(
        name=plain[-NAME_LENGTH:] or "building", account=owner.account, add=add
    )
    made.forget_file()  # of one whose row was never committed
    try:
        made.folder.mkdir(parents=True)
        with made.file.open("wb") as stream:
            for piece in pieces:
                stream.write(piece)
    except OSError as fault:
        made.forget_file()
        raise Unavailable(
            f"the file cannot be kept: {fault.strerror}",
            found=made.name,
            attempt="again when there is room on the disk",
        ) from fault
    have_done("read_import", made.pk)
    return made
