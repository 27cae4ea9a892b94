"""The looks that people choose, and what axe finds in each."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PLAIN = {"color_scheme": "light", "contrast": "no-preference", "forced_colors": "none"}
THEMES = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "contrast": {"contrast": "more"},
    "forced": {"forced_colors": "active", "color_scheme": "dark"},
}


def violations_in_themes(page, *left_out):
    """Returns what axe finds in the whole page, by theme; not in the parts left out."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = {}
    for name, theme in THEMES.items():
        page.emulate_media(**PLAIN | theme)
        page.wait_for_timeout(400)  # colours that glide have arrived
        said = page.evaluate(
            "out => axe.run({exclude: out}, {runOnly: ['wcag2a', 'wcag2aa', 'wcag22aa']})",
            list(left_out),
        )
        for one in said["violations"]:
            found[name, one["id"]] = [node["html"][:200] for node in one["nodes"]]
    page.emulate_media(**PLAIN)
    return found
