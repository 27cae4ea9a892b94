"""Draw one of the seeds' figures: a panel per metric, 95 % intervals as bars of error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aspen.errors import AspenError
from tests.bench.seeds_runs import Point

HAS_MATPLOTLIB = find_spec("matplotlib") is not None
if TYPE_CHECKING or HAS_MATPLOTLIB:  # a development package; measuring needs none
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet
    from matplotlib.ticker import NullFormatter

METRICS = {
    "shared_provenance_bytes_per_tuple": ("provenance per tuple, in memory", "B"),
    "provenance_bytes_per_tuple": ("provenance per tuple", "B"),
    "kilobytes_per_node": ("shipped per node", "kB"),
    "state_kilobytes_per_node": ("operator state per node", "kB"),
    "convergence_s": ("convergence time", "s"),
}
COLOURS = {  # Okabe and Ito's, which the colour-blind can tell apart
    "absorption-lazy": "#0072B2",
    "absorption-push": "#56B4E9",
    "absorption-eager": "#E69F00",
    "relative": "#009E73",
    "dred": "#D55E00",
    "recompute": "#7F7F7F",
    "Multi AggSel": "#0072B2",
    "Single AggSel": "#E69F00",
    "one view each": "#009E73",
    "no AggSel": "#D55E00",
}
VARIANTS = ("-", "--", ":")
HATCHES = ("", "///", "...")


class CannotDraw(AspenError):
    """A drawing without the package that draws."""

    code = "tests.bench.no_matplotlib"


def draw(path: Path, title: str, x: str, points: Mapping[str, Mapping[str, Point]]) -> None:
    """Write one figure as SVG.

    Args:
        x: the label of the horizontal axis; without one, vertices on it are words and get bars.
        points: by series and vertex.

    Raises:
        CannotDraw: matplotlib is not installed.
    """
    if not HAS_MATPLOTLIB:
        raise CannotDraw("matplotlib is not installed", attempt="install the development packages")
    sheet = Sheet(figsize=(13, 3.8), layout="constrained")
    metrics = [
        metric
        for metric in METRICS
        if any(metric in point for along in points.values() for point in along.values())
    ]
    panels = sheet.subplots(1, len(metrics), squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        name, unit = METRICS[metric]
        (_lines if x else _bars)(axes, metric, points)
        axes.set_ylabel(f"{name} ({unit})", fontsize=9)
        axes.set_xlabel(x, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    handles, labels = panels[0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    sheet.suptitle(title, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Text as text; no date and fixed identifiers: the same figures give the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "seeds"}):
        sheet.savefig(path, metadata={"Date": None})


def _style(series: str, seen: Sequence[str]) -> tuple[str, int]:
    """Returns a series' colour, the same in all figures, and which of that colour it is."""
    key = next((name for name in COLOURS if series.startswith(name)), series)
    same = [other for other in seen if other.startswith(key)]
    return COLOURS.get(key, "#000000"), same.index(series) % len(VARIANTS)


def _values(points: Mapping[str, Point], metric: str) -> list[tuple[str, float, float]]:
    """Returns vertex, mean and half interval of each point that has any."""
    return [
        (x, point[metric]["mean"], point[metric]["ci95"])
        for x, point in points.items()
        if metric in point
    ]


def _lines(axes: Axes, metric: str, points: Mapping[str, Mapping[str, Point]]) -> None:
    for series, along in points.items():
        colour, variant = _style(series, list(points))
        found = _values(along, metric)
        missing = len(along) - len(found)
        label = f"{series} ({missing} points over budget)" if missing else series
        axes.errorbar(
            [float(x) for x, _, _ in found],
            [mean for _, mean, _ in found],
            yerr=[half for _, _, half in found],
            color=colour,
            linestyle=VARIANTS[variant],
            marker="o",
            markersize=3,
            capsize=2,
            label=label,
        )
    _scale(axes, metric, points)


def _bars(axes: Axes, metric: str, points: Mapping[str, Mapping[str, Point]]) -> None:
    vertices = list(dict.fromkeys(x for along in points.values() for x in along))
    width = 0.8 / len(points)
    for number, (series, along) in enumerate(points.items()):
        colour, variant = _style(series, list(points))
        offset = (number - (len(points) - 1) / 2) * width
        found = _values(along, metric)
        axes.bar(
            [vertices.index(x) + offset for x, _, _ in found],
            [mean for _, mean, _ in found],
            width * 0.9,
            yerr=[half for _, _, half in found],
            color=colour,
            hatch=HATCHES[variant],
            edgecolor="white",
            capsize=2,
            label=series,
        )
        drawn = {x for x, _, _ in found}
        for x in [x for x in along if x not in drawn]:
            axes.annotate(
                "over budget",
                (vertices.index(x) + offset, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                rotation=90,
                ha="center",
                va="bottom",
                fontsize=7,
                color=colour,
            )
    axes.set_xticks(range(len(vertices)), vertices)
    _scale(axes, metric, points)


def _scale(axes: Axes, metric: str, points: Mapping[str, Mapping[str, Point]]) -> None:
    """Choose a logarithmic axis where the values differ by more than a factor of ten."""
    means = [mean for along in points.values() for _, mean, _ in _values(along, metric) if mean]
    if means and max(means) > 10 * min(means):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
