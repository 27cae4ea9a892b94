"""What Schemathesis's own program is told: texts of StreamSQL that mean something.

Source: own.
"""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

VIEWS = ("machine_state", "room_state", "sensor_now", "door", "room", "machine", "no_such_view")
COLUMNS = ("rid", "mid", "sid", "level_id", "state", "name", "*", "COUNT(*)", "nowhere")
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False)).map(str)
COMPARED = st.builds(
    "{} {} {}".format,
    st.sampled_from(COLUMNS[:6]),
    st.sampled_from(("=", "<", "LIKE")),
    st.one_of(NUMBERS, st.text(max_size=5).map(lambda text: f"'{text}'")),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draws a query, sound or not: with a join, a condition, a group, a recursion, or cut short."""
    column, view = draw(st.sampled_from(COLUMNS)), draw(st.sampled_from(VIEWS))
    text = f"SELECT {column} FROM {view} a"
    if draw(st.booleans()):
        text += f" JOIN {draw(st.sampled_from(VIEWS))} b ON a.rid = b.rid"
    if draw(st.booleans()):
        text += f" WHERE {draw(COMPARED)}"
    if draw(st.booleans()):
        text += f" GROUP BY {column}"
    if draw(st.booleans()):
        text = f"WITH RECURSIVE r AS ({text} UNION {text}) SELECT * FROM r"
    text = draw(st.sampled_from(("", "ONCE ", "EXPLAIN "))) + text
    return text[: draw(st.integers(1, len(text)))] if draw(st.integers(0, 9)) == 0 else text


schemathesis.openapi.format("streamsql", texts())
