"""How a statement names the fields of the write that it is run for: each is a bound parameter, and nothing else carries a value."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BindParameter, FromClause, Integer, bindparam, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

__all__ = ["ONE", "PREFIX", "ZERO", "field", "fields", "number_of"]

PREFIX: Final = "w_"
"""Keeps a write's field apart from a column of that name, which SQLAlchemy claims for itself."""

ZERO: Final[ColumnElement[int]] = literal_column("0", Integer)
ONE: Final[ColumnElement[int]] = literal_column("1", Integer)


def field(name: str) -> BindParameter[Any]:
    """A field of the write."""
    return bindparam(f"{PREFIX}{name}")


def fields(*names: str) -> dict[str, BindParameter[Any]]:
    """Columns that take the fields of the same names."""
    return {name: field(name) for name in names}


def number_of(table: FromClause, name: str) -> ColumnElement[Any]:
    """The number of the row whose id is in a field of the write."""
    return select(table.c.n).where(table.c.id == field(name)).scalar_subquery()
