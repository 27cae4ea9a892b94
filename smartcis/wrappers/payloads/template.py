"""Templates of Home Assistant, as far as they only pick a value.

{{ value }}    {{ value_json.a['b'][0] | float(0) | round(1) }}    {{ value_json.mv / 1000 }}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.paths import Path, picked

LENGTH = 300
_STEP = r"\.\w+|\[\s*(?:'[^']*'|\"[^\"]*\"|\d+)\s*\]"
_TEMPLATE = re.compile(
    r"\{\{-?\s*\(?\s*(?P<value>value(?:_json)?)(?P<path>(?:" + _STEP + r")*)"
    r"(?:\s*\|\s*(?:float|int|is_defined)(?:\([^()|]*\))?)*\s*\)?"
    r"\s*(?:(?P<sign>[*/])\s*(?P<factor>\d+(?:\.\d+)?))?\s*\)?"
    r"(?:\s*\|\s*(?:float|int|round|default|is_defined|abs)(?:\([^()|]*\))?)*\s*-?\}\}"
)
_STEPS = re.compile(r"\.(\w+)|\[\s*(?:'([^']*)'|\"([^\"]*)\"|(\d+))\s*\]")


@dataclass(frozen=True, slots=True)
class PayloadTemplate:
    """What a template picks.

    Args:
        whole: whether it takes the payload as it is, and not as JSON.
        path: into the JSON.
        factor: what a number is multiplied with.
    """

    whole: bool
    path: Path
    factor: float = 1.0

    def pick(self, text: str, payload: Any) -> Any:
        """Returns the value, None where there is none.

        Args:
            text: the payload.
            payload: the same as JSON, None where it is none.
        """
        return text if self.whole else picked(payload, self.path)


def read_template(text: object) -> PayloadTemplate:
    """Reads a template; none at all takes the payload as it is.

    Raises:
        BadBrokerMessage: it does more than pick a value.
    """
    if text is None or text == "":
        return PayloadTemplate(whole=True, path=())
    short = text.strip() if isinstance(text, str) and len(text) < LENGTH else ""
    read = _TEMPLATE.fullmatch(short)
    if read is None or (read["value"] == "value" and read["path"]):
        raise BadBrokerMessage(
            "this template does more than pick a value",
            found=str(text)[:80],
            exists=["{{ value }}", "{{ value_json.x }}", "{{ value_json['x'] | float }}"],
            attempt="add a mapping for its topic",
        )
    path = tuple(
        int(index) if index else name or single or double
        for name, single, double, index in _STEPS.findall(read["path"])
    )
    factor = float(read["factor"] or 1.0)
    if read["sign"] == "/":
        factor = 1.0 / factor if factor else 1.0
    return PayloadTemplate(read["value"] == "value", path, factor)
