"""The standing queries: one `.streamsql` file per view, in this folder."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def standing_queries(folder: Path = FOLDER) -> dict[str, str]:
    """Give the text of every standing query by file name, sorted."""
    return {
        path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.streamsql"))
    }
