"""Is a checkpoint still of use? It speaks of one log and one results store; both must agree.

A checkpoint whose log lost entries, whose results were emptied, or which an older lane format
wrote, would lose or double changes: it is dropped, and the log rebuilds everything. The identity
of a checkpoint, its *generation*, is the query id that Spark writes into it, so that it cannot
outlive the checkpoint.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 2  # raise when lanes' snapshots or the state variable change their shape


def format_of(lanes: int) -> str:
    """Give the mark of a checkpoint; the number of lanes is fixed once and for all in it."""
    return f"format {FORMAT}, lanes {lanes}"


@dataclass(frozen=True, slots=True)
class LogEnds:
    """Which log it is, up to where it goes, and from where on it has its entries."""

    identity: str
    head: int
    base: int = 0


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
    """

    generation: str = ""
    format: str = ""
    log: str = ""
    position: int = 0
    committed: int = -1
    done: int = 0

    def unusable(self, mark: str, log: LogEnds, writer: tuple[str, int]) -> str:
        """Say why this checkpoint cannot be continued, empty when it can.

        Args:
            mark: what `format` must be.
            log: which log it is, and where it begins and ends.
            writer: the generation and batch that the results were written by last.
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
        if self.committed >= 0 and writer != (self.generation, max(writer[1], self.committed)):
            return f"the results do not hold its batch {self.committed}"
        return ""


def _newest(folder: Path) -> Path | None:
    numbered = [file for file in folder.glob("*") if file.name.isdigit()]
    return max(numbered, key=lambda file: int(file.name), default=None)


def _offset(file: Path) -> dict[str, Any]:
    last: dict[str, Any] = json.loads(file.read_text().strip().splitlines()[-1])
    return last


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read what a folder holds; an empty or missing one gives an empty checkpoint."""
    metadata, offsets = folder / "metadata", _newest(folder / "offsets")
    if not metadata.exists() or offsets is None:
        return Checkpoint()
    offset = _offset(offsets)
    commit = _newest(folder / "commits")
    mark = folder / "format"
    committed = int(commit.name) if commit is not None else -1
    done = folder / "offsets" / str(committed)
    return Checkpoint(
        generation=json.loads(metadata.read_text())["id"],
        format=mark.read_text() if mark.exists() else "",
        log=offset.get("log", ""),
        position=int(offset["position"]),
        committed=committed,
        done=int(_offset(done)["position"]) if committed >= 0 else 0,
    )


def prepare_checkpoint(folder: Path, lanes: int, log: LogEnds, writer: tuple[str, int]) -> str:
    """Make `folder` fit to start from; the further arguments as for `Checkpoint.unusable`.

    Returns:
        Why an old checkpoint was dropped, empty when none was.
    """
    try:
        reason = read_checkpoint(folder).unusable(format_of(lanes), log, writer)
    except (ValueError, KeyError, IndexError, OSError) as error:
        reason = f"it cannot be read: {error}"
    if reason:
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "format").write_text(format_of(lanes))
    return reason
