"""What a log or a traceback may show of a value: never what gives a hidden card away, or lets somebody in."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import chilkoot
from chilkoot.discretion import SECRETS

SECRET_ROOMS = ("chilkoot.record", "chilkoot.table", "chilkoot.host", "chilkoot.wire")


def below(kind: Any) -> Iterator[Any]:
    for one in kind.__subclasses__():
        yield one
        yield from below(one)


def secretive() -> list[Any]:
    """The types of the server that hold what nobody may see."""
    for module in pkgutil.walk_packages(chilkoot.__path__, "chilkoot."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = [*below(msgspec.Struct), *below(tuple)]
    return [one for one in found if one.__module__.startswith(SECRET_ROOMS) and SECRETS & set(fields(one))]


def fields(kind: Any) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(kind, "__struct_fields__", ()) or getattr(kind, "_fields", ())
    return found


@pytest.mark.parametrize("kind", secretive(), ids=lambda kind: kind.__name__)
def test_what_is_shown_of_a_value_has_no_deal_key_or_token_in_it(kind: Any) -> None:
    values = {name: f"{'hush' if name in SECRETS else 'told'} {name}" for name in fields(kind)}
    one = kind(**values)
    shown = repr([one])
    assert "hush" not in shown
    assert kind.__name__ in shown


def test_the_types_that_hold_secrets_are_found() -> None:
    assert {"NewGame", "GameHeader", "StoredSeat", "Terms", "Hello", "Welcome", "GivenOut"} <= {
        one.__name__ for one in secretive()
    }
