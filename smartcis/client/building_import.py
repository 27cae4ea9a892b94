"""A building's file on its way to being the building: read, looked at, accepted, taken back.

reading ──► ready ──accept──► writing ──► accepted ──undo──► undoing ──► undone
└──────► refused
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from smartcis.client.problem import Problem
from smartcis.client.rest import Rest
from smartcis.client.typed import typed

BUSY = ("reading", "writing", "undoing")
LOOK_EVERY_S = 0.5
LONGEST_S = 1_000.0
"""After so long without a step the server itself counts an import as interrupted."""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """One thing of the file that was not taken as it stood.

    Args:
        finding: concluded, repaired or dropped.
        where: the file's own identifier.
    """

    finding: str
    what: str
    where: str
    why: str
    level_id: str


@dataclass(frozen=True, slots=True)
class ImportFindings:
    """What was found in the file.

    Args:
        adds: as which drawing it comes beside the buildings that are there; empty for none.
        replaces: another building that would be removed; empty for none.
        units: rooms, corridors, stairs and lifts.
        units_reached: those that an entrance leads to.
        doors: that are drawn; others were concluded.
        entrances: same.
    """

    format: str
    name: str
    adds: str
    replaces: str
    levels: int
    units: int
    units_reached: int
    doors: int
    doors_concluded: int
    entrances: int
    entrances_concluded: int
    notes: tuple[ImportNote, ...]


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """An import, as the server lists it.

    Args:
        name: of the file.
        step: what is being done, or was last.
        add: whether its building comes beside those that are there.
        refusal: why the last step was refused; None where it was not.
        report: None until the file has been read.
    """

    id: int
    name: str
    state: str
    step: str
    add: bool
    undoable: bool
    refusal: Mapping[str, Any] | None
    report: ImportFindings | None


class RunningImport:
    """A handle on an import.

    Args:
        rest: of the server.
        entry: what the server said of it last.
    """

    def __init__(self, rest: Rest, entry: ImportEntry) -> None:
        self._rest = rest
        self.entry = entry

    def accept(self, *, replace: bool = False) -> None:
        """Makes it the building, and waits until it is.

        Args:
            replace: whether another building may be removed, with all that stands in it.

        Raises:
            Problem: it is not ready, or is refused.
        """
        self._rest.post(f"imports/{self.entry.id}/accept/", {"replace": replace})
        self.wait()

    def undo(self) -> None:
        """Makes the building what it was before, and waits until it is.

        Raises:
            Problem: it is not the newest one that was accepted.
        """
        self._rest.call("POST", f"imports/{self.entry.id}/undo/")
        self.wait()

    def discard(self) -> None:
        """Removes it with its file; the building stays as it is."""
        self._rest.call("DELETE", f"imports/{self.entry.id}/", twice=True)

    def wait(self) -> None:
        """Waits until the server has done what it is at.

        Raises:
            Problem: it was refused, or takes longer than the server allows itself.
        """
        until_s = monotonic() + LONGEST_S
        while True:
            self.entry = typed(ImportEntry, self._rest.get(f"imports/{self.entry.id}/"))
            if self.entry.state not in BUSY:
                break
            if monotonic() > until_s:
                raise Problem(
                    f"the import is still {self.entry.state}",
                    code="smartcis.client.import_stuck",
                    attempt="see that the server's workers run",
                )
            sleep(LOOK_EVERY_S)
        if self.entry.refusal is not None:
            raise Problem.of(self.entry.refusal)


def upload(rest: Rest, path: Path, *, add: bool = False) -> RunningImport:
    """Brings a building's file, and waits until it has been read; nothing changes yet.

    Args:
        add: whether its building comes beside those that are there.

    Raises:
        Problem: the file cannot be opened, or holds no building; or who may not.
    """
    brought = RunningImport(rest, typed(ImportEntry, rest.upload("imports/", path, add=add)))
    brought.wait()
    return brought
