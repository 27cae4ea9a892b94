"""Files that sources may name: those below the operator's folders, wherever a link leads."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from smartcis.wrappers.errors import BadConfig


def allowed_file(name: str) -> Path:
    """Returns the path of a file; one that is not there, too.

    Args:
        name: absolute, or below any of the folders.

    Raises:
        BadConfig: it lies elsewhere.
    """
    folders = [Path(folder).resolve() for folder in settings.TABLE_FOLDERS]
    try:
        found = [(folder / name).resolve() for folder in folders]
    except (OSError, ValueError, RuntimeError):  # a circle of links, a null character
        found = []
    inside = [one for one in found if any(one.is_relative_to(folder) for folder in folders)]
    if not inside:
        raise BadConfig(
            "files are read from the operator's folders alone",
            found=name[:200],
            exists=[str(folder) for folder in folders],
            attempt="move the file there, or the operator sets SMARTCIS_TABLE_FOLDERS",
        )
    return next((one for one in inside if one.exists()), inside[0])
