"""Errors with the sentence that belongs to their code."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from chilkoot.wire.codes import ERROR_TEXTS, ErrorCode
from chilkoot.wire.messages import Error

__all__ = ["error"]


def error(
    code: ErrorCode,
    answers: int | None = None,
    *,
    message: str | None = None,
    detail: dict[str, Any] | None = None,
    retry_after_ms: int | None = None,
) -> Error:
    """The error of that code, as the answer to the command with the id `answers`."""
    return Error(
        re=UNSET if answers is None else answers,
        code=code,
        message=message or ERROR_TEXTS[code],
        detail=UNSET if detail is None else detail,
        retry_after_ms=UNSET if retry_after_ms is None else retry_after_ms,
    )
