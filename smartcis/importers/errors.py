"""What an importer refuses, in domain words."""

from __future__ import annotations

from aspen.errors import AspenError


class ImportRefused(AspenError, code="smartcis.import.refused"):
    """Base of every refusal: nothing was imported."""


class UnknownFormat(ImportRefused, code="smartcis.import.unknown_format"):
    """A file of none of the formats that can be read."""


class MissingFile(ImportRefused, code="smartcis.import.missing_file"):
    """No such file, or an archive without one that it must have."""


class UnsafeArchive(ImportRefused, code="smartcis.import.unsafe_archive"):
    """An archive that would unpack outside itself, or to far more than it seems."""


class ImportTooLarge(ImportRefused, code="smartcis.import.too_large"):
    """More bytes or shapes than a building has."""


class BrokenFile(ImportRefused, code="smartcis.import.broken_file"):
    """A file that is not what its format says."""


class NothingDrawn(ImportRefused, code="smartcis.import.nothing_drawn"):
    """A readable file without anything that people could walk in."""


class AnotherBuilding(ImportRefused, code="smartcis.import.another_building"):
    """The product shows a building that the file does not describe."""


class StillUsed(ImportRefused, code="smartcis.import.still_used"):
    """Machines or kiosks stand at points that would go."""


class ImportFailed(ImportRefused, code="smartcis.import.failed"):
    """The importer could not cope; the log has the traceback."""


class Unplaced(ImportRefused, code="smartcis.import.unplaced"):
    """A drawing that cannot be put beside another: nobody knows where it lies."""
