"""What an importer refuses, in domain words."""

from __future__ import annotations

from aspen.errors import AspenError


class ImportRefused(AspenError):
    """Base of every refusal: nothing was imported."""

    code = "smartcis.import.refused"


class MissingFile(ImportRefused):
    """The folder lacks a file an IMDF archive must have."""

    code = "smartcis.import.missing_file"


class BrokenFile(ImportRefused):
    """A file that is no JSON, or no feature collection."""

    code = "smartcis.import.broken_file"


class BrokenFeature(ImportRefused):
    """A feature without what its kind must have; `found` names the feature's id."""

    code = "smartcis.import.broken_feature"


class UnknownLevel(ImportRefused):
    """A unit that names a level the file does not have."""

    code = "smartcis.import.unknown_level"
