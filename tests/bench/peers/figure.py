"""The figure of `bench peers`: per case, ours over Pathway's, as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.slope_figure import CannotDraw

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
except ImportError:  # matplotlib is a development package; measuring needs none
    rc_context = Figure = None  # type: ignore[assignment,misc]

PANELS = {
    "load_s": "load",
    "deletion_p50_ms": "deletion, p50",
    "deletion_p95_ms": "deletion, p95",
    "peak_mib": "peak memory",
}
ENGINES = {"pathway": ("Pathway", "#0072B2", "o"), "duckdb": ("DuckDB anew", "#D55E00", "s")}
ROW_INCHES = 0.19


def draw(path: Path, cases: Mapping[str, Mapping[str, Any]], bounds: Mapping[str, float]) -> None:
    """Draw ours over theirs, a row per case and a panel per measure; left of the line is faster.

    Args:
        cases: as the bench's report has them; one without figures of both is left empty.
        bounds: per measure, the ratio to Pathway that is wanted.

    Raises:
        CannotDraw: matplotlib is not installed.
    """
    if Figure is None:
        raise CannotDraw("matplotlib is not installed", attempt="install the development packages")
    names = [name for name, case in cases.items() if case["answers_agree"]][::-1]
    sheet = Figure(figsize=(12, 1.2 + ROW_INCHES * len(names)), layout="constrained")
    panels = sheet.subplots(1, len(PANELS), sharey=True)
    for axes, (what, title) in zip(panels, PANELS.items(), strict=True):
        for engine, (label, colour, marker) in ENGINES.items():
            points = [
                (ratio, place)
                for place, name in enumerate(names)
                if (ratio := cases[name]["over"].get(engine, {}).get(what))
            ]
            if points:
                ratios, places = zip(*points, strict=True)
                axes.plot(ratios, places, marker, color=colour, markersize=4, label=label)
        axes.axvline(bounds[what], color="#009E73", linewidth=1, label="wanted, to Pathway")
        axes.axvline(1, color="#7F7F7F", linewidth=0.6)
        axes.set_xscale("log")
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("ours / theirs", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(visible=True, axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(names)), names)
    handles, labels = panels[0].get_legend_handles_labels()
    sheet.legend(handles, labels, fontsize=7, loc="outside lower center", ncols=len(labels))
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same figures give the same bytes.
    with rc_context({"svg.hashsalt": "peers", "svg.fonttype": "none"}):
        sheet.savefig(path, format="svg", metadata={"Date": None})
