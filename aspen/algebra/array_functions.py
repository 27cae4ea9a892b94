"""The functions over arrays: rows of the table of scalar functions.

Which types go together is said in `aspen.streamsql.typing_arrays`: the type of an array's values
is one of many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspen.algebra import arrays
from aspen.algebra.function import Function
from aspen.model.arrays import Array
from aspen.model.schema import Type

ARRAYS = frozenset(kind for kind in Type if kind.element is not None)
ELEMENTS = frozenset(kind for kind in Type if kind.array is not None)
_INT = frozenset({Type.INT})
_TEXT = frozenset({Type.TEXT})
_SUMMED = frozenset({Type.INT_ARRAY, Type.FLOAT_ARRAY})


def _of(
    name: str,
    result: Type | None,
    call: Callable[..., Any],
    *each: frozenset[Type],
    strict: bool = True,
    total: bool = False,
    least: int = 0,
) -> Function:
    count = len(each)
    return Function(
        name, least or count, count, ELEMENTS, result, False, call, strict, each, total=total
    )


ARRAY_FUNCTIONS = (
    Function("list_value", 1, None, ELEMENTS, None, False, arrays.of_values, False, total=False),
    Function(
        "list_concat", 1, None, ARRAYS, None, False, arrays.concatenated, False, (ARRAYS,), False
    ),
    Function("list_joined", 2, None, ARRAYS, None, False, arrays.concatenated, True, (ARRAYS,)),
    _of("array_to_string", Type.TEXT, arrays.joined, ARRAYS, _TEXT),
    _of("equals_any", Type.BOOL, arrays.equals_any, ARRAYS, ELEMENTS, strict=False),
    _of("list_append", None, arrays.appended, ARRAYS, ELEMENTS, strict=False),
    _of("list_avg", Type.FLOAT, arrays.mean, _SUMMED),
    _of("list_contains", Type.BOOL, arrays.contains, ARRAYS, ELEMENTS, total=True),
    _of("list_count", Type.INT, arrays.known, ARRAYS, total=True),
    _of("list_distinct", None, arrays.distinct, ARRAYS, total=True),
    _of("list_extract", None, arrays.at, ARRAYS | _TEXT, _INT),
    _of("list_has_all", Type.BOOL, arrays.has_all, ARRAYS, ARRAYS, total=True),
    _of("list_has_any", Type.BOOL, arrays.has_any, ARRAYS, ARRAYS, total=True),
    _of("list_intersect", None, arrays.shared, ARRAYS, ARRAYS, strict=False),
    _of("list_max", None, arrays.greatest, ARRAYS),
    _of("list_min", None, arrays.least, ARRAYS),
    _of("list_position", Type.INT, arrays.position, ARRAYS, ELEMENTS, strict=False),
    _of("list_prepend", None, arrays.prepended, ELEMENTS, ARRAYS, strict=False),
    _of("list_reverse", None, lambda values: Array(values[::-1]), ARRAYS, total=True),
    _of("list_reverse_sort", None, arrays.descending, ARRAYS, total=True),
    _of("list_slice", None, arrays.part, ARRAYS | _TEXT, _INT, _INT, strict=False),
    _of("list_sort", None, arrays.ascending, ARRAYS, total=True),
    _of("list_sum", None, arrays.total, _SUMMED),
    _of("list_unique", Type.INT, lambda values: len(arrays.distinct(values)), ARRAYS, total=True),
    _of("string_split", Type.TEXT_ARRAY, arrays.split, _TEXT, _TEXT),
)
