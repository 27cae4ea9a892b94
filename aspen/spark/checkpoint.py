"""Is a checkpoint still of use? It speaks of one log and one results store; both must agree.

A checkpoint whose log lost entries, whose results were emptied, or which an older lane format
wrote, would lose or double changes: it is dropped, and the log rebuilds everything. The identity
of a checkpoint, its *generation*, is the query id that Spark writes into it, so that it cannot
outlive the checkpoint.

A checkpoint for another number of lanes is dropped as well, but its end is a *savepoint*:

    log          base ├─────────────────────┼──── tail ───► head
    2 lanes           ├── published ──── epoch 41 ┤ savepoint
    4 lanes           ├── applied in silence ┤ epoch 42 ───►

Lanes hold all base rows, so the log's base and its tail serve any number of them. The new query
comes up to the savepoint without telling anybody, takes the results over as they stand, and goes on
with the next epoch. Killed on its way, it begins again from the same savepoint.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aspen.log.redis_log import NewestSuperstep
from aspen.results.protocol import Savepoint

FAILED_STARTS = 3  # in a row, without an epoch: something in it cannot be read
FORMAT = 3  # raise when lanes' snapshots or the state variable change their shape


_MARK = re.compile(rf"format {FORMAT}, lanes \d+")


def format_of(lanes: int) -> str:
    """Returns the mark of a checkpoint; the number of lanes is fixed once and for all in it."""
    return f"format {FORMAT}, lanes {lanes}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an engine begins with.

    Args:
        dropped: why an old checkpoint was dropped, empty when none was.
        savepoint: where this checkpoint takes over from another one, if it does.
        supersteps: number of the newest superstep a checkpoint goes on from, None for a new one.
    """

    dropped: str = ""
    savepoint: Savepoint | None = None
    supersteps: int | None = None


@dataclass(frozen=True, slots=True)
class LogEnds:
    """Which log it is, up to where it goes, and from where on it has its entries.

    Args:
        supersteps: the newest one beside it.
    """

    identity: str
    head: int
    base: int = 0
    supersteps: NewestSuperstep = field(default_factory=NewestSuperstep)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint folder says.

    Args:
        generation: Spark's query id, empty when the query never began.
        format: its mark, see `format_of`.
        log: identity of the log it reads.
        position: log position up to which batches were planned.
        committed: the newest batch that is done, -1 before the first.
        done: log position up to which batches are done; from there on Spark reads again.
        savepoint: where it took over from another checkpoint, if it did.
        supersteps: number of the newest superstep that batches were planned with.
        since: log position at which the epoch began that the newest done batch is of.
    """

    generation: str = ""
    format: str = ""
    log: str = ""
    position: int = 0
    committed: int = -1
    done: int = 0
    savepoint: Savepoint | None = None
    supersteps: int = 0
    since: int = 0

    def unusable(self, mark: str, log: LogEnds, writer: tuple[str, int], published: int = 0) -> str:
        """Say why this checkpoint cannot be continued, empty when it can.

        Args:
            mark: what `format` must be.
            log: which log it is, and where it begins and ends.
            writer: the generation and batch that the results were written by last.
            published: log position up to which the results are written.
        """
        if not self.generation:
            return ""
        if self.format != mark:
            return f"it has {self.format or 'no format'}, the engine has {mark}"
        if self.log and self.log != log.identity:
            return "it belongs to another log"
        if self.position > log.head:
            return f"it has read up to {self.position}, the log ends at {log.head}"
        # A first batch that was not done reads the base again, and must reach beyond it.
        if log.base and log.base > (self.done or self.position - 1):
            return f"it continues at {self.done}, the log begins at {log.base}"
        if self.supersteps > log.supersteps.number:
            newest = log.supersteps.number
            return f"its lanes have had superstep {self.supersteps}, the newest is {newest}"
        if self.committed >= 0 and not (
            (writer[0] == self.generation and writer[1] >= self.committed)
            or self._went_into_a_superstep(log.supersteps, writer, published)
        ):
            return f"the results do not hold its batch {self.committed}"
        return ""

    def _went_into_a_superstep(
        self, newest: NewestSuperstep, writer: tuple[str, int], published: int
    ) -> bool:
        """Whether the newest done batch became a superstep, after the epoch of the results."""
        if newest.generation != self.generation or self.committed not in newest.batches:
            return False
        begun = 0 if self.savepoint is None else self.savepoint.position
        return self.since <= begun or (writer[0] == self.generation and published == self.since)


def _newest(folder: Path) -> Path | None:
    numbered = [file for file in folder.glob("*") if file.name.isdigit()]
    return max(numbered, key=lambda file: int(file.name), default=None)


def _offset(file: Path) -> dict[str, Any]:
    last: dict[str, Any] = json.loads(file.read_text().strip().splitlines()[-1])
    return last


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read what a folder holds; an empty or missing one gives an empty checkpoint."""
    metadata, offsets = folder / "metadata", _newest(folder / "offsets")
    mark, saved = folder / "format", folder / "savepoint"
    begun = Checkpoint(
        format=mark.read_text() if mark.exists() else "",
        savepoint=Savepoint(**json.loads(saved.read_text())) if saved.exists() else None,
    )
    if not metadata.exists() or offsets is None:
        return begun
    offset = _offset(offsets)
    commit = _newest(folder / "commits")
    committed = int(commit.name) if commit is not None else -1
    done = folder / "offsets" / str(committed)
    last = _offset(done) if committed >= 0 else {}
    return replace(
        begun,
        generation=_generation(folder),
        log=offset.get("log", ""),
        position=int(offset["position"]),
        committed=committed,
        done=int(last.get("position", 0)),
        supersteps=int(offset.get("borders", 0)),
        since=int(last.get("since", 0)),
    )


def prepare_checkpoint(
    folder: Path, lanes: int, log: LogEnds, writer: tuple[str, int], published: int
) -> Prepared:
    """Make `folder` fit to start from; log and writer as for `Checkpoint.unusable`.

    Args:
        published: log position up to which the results are written.
    """
    found = Checkpoint()
    aside = folder.with_name(f"{folder.name}.broken")
    try:
        found = read_checkpoint(folder)
        reason = found.unusable(format_of(lanes), log, writer, published)
        broken = not reason and _failed_starts(folder) >= FAILED_STARTS
        if broken:
            reason = f"{FAILED_STARTS} engines in a row failed to start from it; it is in {aside}"
    except (ValueError, KeyError, IndexError, TypeError, OSError) as error:
        broken, reason = True, f"it cannot be read: {error}; it is in {aside}"
    if not reason and found.generation:
        return Prepared(savepoint=found.savepoint, supersteps=found.supersteps)
    savepoint = None if broken else _savepoint(found, log, writer, published)
    if broken:
        shutil.rmtree(aside, ignore_errors=True)
        folder.replace(aside)
    elif folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / "format").write_text(format_of(lanes))
    if savepoint is not None:
        (folder / "savepoint").write_text(json.dumps(asdict(savepoint)))
    return Prepared(reason, savepoint)


def _generation(folder: Path) -> str:
    return str(json.loads((folder / "metadata").read_text())["id"])


def _failures(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.failures")


def _failed_starts(folder: Path) -> int:
    """Returns how many engines in a row failed before they had an epoch of a checkpoint."""
    try:
        generation, count = _failures(folder).read_text().split()
    except (OSError, ValueError):
        return 0
    return int(count) if generation == _generation(folder) else 0


def start_failed(folder: Path) -> None:
    """Count an engine that failed before it had an epoch of a checkpoint."""
    with suppress(OSError, ValueError, KeyError):
        _failures(folder).write_text(f"{_generation(folder)} {_failed_starts(folder) + 1}")


def start_succeeded(folder: Path) -> None:
    """Forget earlier failures: there is an epoch."""
    with suppress(OSError):
        _failures(folder).unlink(missing_ok=True)


def _savepoint(
    found: Checkpoint, log: LogEnds, writer: tuple[str, int], published: int
) -> Savepoint | None:
    """Returns where a new checkpoint can take over from the one that was found."""
    if not writer[0] or not max(log.base, 1) <= published <= log.head:
        return None
    here = Savepoint(writer[0], published)
    if found.savepoint == here:
        return here  # somebody was on the way from there, and had not taken over yet
    rescaled = _MARK.fullmatch(found.format) and not found.unusable(
        found.format, log, writer, published
    )
    return here if rescaled and found.generation == writer[0] else None
