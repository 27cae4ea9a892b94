"""The figure of `bench slope`, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from aspen.errors import AspenError

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
except ImportError:  # matplotlib is a development package; measuring needs none
    rc_context = Figure = None  # type: ignore[assignment,misc]

Points = Sequence[tuple[float, float]]

COLOURS = ("#0072B2", "#D55E00")


class CannotDraw(AspenError):
    """A drawing without the package that draws."""

    code = "tests.bench.no_matplotlib"


def draw(path: Path, series: Mapping[str, Points], slopes: Mapping[str, float]) -> None:
    """Draw time over rows on two logarithmic scales.

    Args:
        series: (rows in the view, ms) per line.
        slopes: per line, for the legend.

    Raises:
        CannotDraw: matplotlib is not installed.
    """
    if Figure is None:
        raise CannotDraw("matplotlib is not installed", attempt="install the development packages")
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for colour, (name, points) in zip(COLOURS, series.items(), strict=False):
        rows, taken_ms = zip(*points, strict=True)
        label = f"{name} (slope {slopes[name]:+.2f})"
        axes.loglog(rows, taken_ms, marker="o", color=colour, label=label)
    axes.set_ylim(1e-2, 1e1)
    axes.set_xlabel("rows in the view")
    axes.set_ylabel("one deletion, median, ms")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same points give the same bytes.
    with rc_context({"svg.hashsalt": "slope", "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
