"""A client of SmartCIS: queries, live views, walks, listings and readings.

It needs httpx and websockets, and nothing else of this repository:

>>> from smartcis.client import SmartCIS                                    # doctest: +SKIP
>>> with SmartCIS("http://127.0.0.1:8000") as building:                     # doctest: +SKIP
...     building.ask("SELECT mid, rid FROM free_machine").to_pandas()
"""

from smartcis.client.building_import import RunningImport
from smartcis.client.changes import (
    ViewDelta,
    ViewEnded,
    ViewError,
    ViewGap,
    ViewNews,
    ViewSnapshot,
)
from smartcis.client.fold import Fold
from smartcis.client.inventory import InventoryFindings, InventoryLine
from smartcis.client.problem import NoConnection, Problem, TextPosition
from smartcis.client.push import PushedReadings, SensorReading
from smartcis.client.query import RunningQuery
from smartcis.client.rows import Rows, RowsColumn
from smartcis.client.server import SmartCIS
from smartcis.client.walk import RunningWalk, WalkAnswer, WalkStep
