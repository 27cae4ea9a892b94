"""What an importer refuses, in domain words."""

from __future__ import annotations

from aspen.errors import AspenError


class ImportRefused(AspenError, code="smartcis.import.refused"):
    """Base of every refusal: nothing was imported."""


class MissingFile(ImportRefused, code="smartcis.import.missing_file"):
    """The folder lacks a file an IMDF archive must have."""


class BrokenFile(ImportRefused, code="smartcis.import.broken_file"):
    """A file that is no JSON, or no feature collection."""


class BrokenFeature(ImportRefused, code="smartcis.import.broken_feature"):
    """A feature without what its kind must have; `found` names the feature's id."""


class UnknownLevel(ImportRefused, code="smartcis.import.unknown_level"):
    """A unit that names a level the file does not have."""
