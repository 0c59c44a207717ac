"""How functions over arrays are compiled: on first use, kept on disk, without holding the interpreter's lock.

numba keeps what it compiled beside the source, or in the user's cache folder where that can't be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.types import unliteral
from numpy.typing import NDArray

__all__ = ["Bits", "Cards", "Floats", "Ints", "compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])

Cards = NDArray[np.int8]
"""Cards as in ``cards``, a row a pile."""

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
Floats = NDArray[np.float64]


def compiled(function: Function) -> Function:
    """The function compiled for the arrays it is called with."""
    dispatcher: Any = njit(cache=True, nogil=True)(function)
    template_of = dispatcher.get_call_template
    without_number: Callable[[Any], Any] = unliteral

    # The compiler makes a function anew for every number that stands in a call of it: thirteen times for one, a third of
    # the time that all of it takes.
    def get_call_template(arguments: Any, named: Any) -> Any:
        return template_of(
            [without_number(kind) for kind in arguments],
            {name: without_number(kind) for name, kind in named.items()},
        )

    dispatcher.get_call_template = get_call_template
    return cast(Function, dispatcher)
