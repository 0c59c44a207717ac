"""Variants found by their ids in folders of YAML files, compiled once and kept.

The only place that opens files of rules. What is in them is decided by ``chilkoot.language``; ids come from the names of
files that are there, never the other way round, so no id can lead outside the folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from chilkoot.language import (
    ID_PATTERN,
    MAX_BYTES,
    Diagnostic,
    Loader,
    Place,
    Severity,
    Source,
    Variant,
    compile_variant,
    in_order,
)

__all__ = ["Changes", "Library", "read_source", "shown_path"]


class Changes(msgspec.Struct, frozen=True):
    """What a look at the folders found since the last one, by ids.

    A `broken` variant has errors now; the one that was compiled before stays in use where there is one.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class _File(msgspec.Struct, frozen=True):
    """A file as it was read: its stamp says whether it has changed since."""

    stamp: tuple[int, int]
    source: Source | Diagnostic


class _Compiled(msgspec.Struct, frozen=True):
    variant: Variant | None
    diagnostics: tuple[Diagnostic, ...]


class Library:
    """The variants in some folders of rules; of two files with one id the one in the earlier folder counts.

    Variants are compiled when they are first asked for, and kept until `refresh` finds that a file has changed.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._paths, self._said = self._find()
        self._files: dict[Path, _File] = {}
        self._compiled: dict[str, _Compiled] = {}

    def ids(self) -> list[str]:
        """The ids of all files, sorted, whether or not they compile."""
        return sorted(self._paths)

    def path(self, variant: str) -> Path | None:
        """The file of a variant, None where there is none."""
        return self._paths.get(variant)

    def variant(self, variant: str) -> Variant | None:
        """The variant with that id; None where there is no such file or it has errors."""
        return self._compile(variant).variant if variant in self._paths else None

    def variants(self) -> list[Variant]:
        """All variants that compile, sorted by id."""
        found = (self.variant(one) for one in self.ids())
        return [one for one in found if one is not None]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything there is to say about all files, each thing once."""
        said = list(self._said)
        for one in self.ids():
            said += self._compile(one).diagnostics
        return in_order(said)

    def check(self, path: Path) -> tuple[Variant | None, list[Diagnostic]]:
        """Compile any file; what it extends is looked for beside it, then in the folders."""
        source = self._source(path)
        if isinstance(source, Diagnostic):
            return None, [source]
        return self.check_source(source, beside=path.parent)

    def check_source(
        self, source: Source, *, beside: Path | None = None
    ) -> tuple[Variant | None, list[Diagnostic]]:
        """Compile a text, standard input for one; what it extends is looked for in `beside`, then in the folders."""
        return compile_variant(source, self.loader(beside), ids=self._paths)

    def loader(self, beside: Path | None = None) -> Loader:
        """What finds the file of an extended variant: in the folder `beside`, then in the library's folders."""

        def load(variant: str) -> Source | None:
            # An id has neither dots nor slashes, so the path can't leave the folder.
            if not re.fullmatch(ID_PATTERN, variant):
                return None
            near = beside / f"{variant}.yaml" if beside is not None else None
            for path in (near, self._paths.get(variant)):
                if path is not None and path.is_file():
                    source = self._source(path)
                    return source if isinstance(source, Source) else None
            return None

        return load

    def refresh(self) -> Changes:
        """Look at the folders again and compile what is new or has changed, variants that extend it included.

        A file that is broken now keeps the variant that was compiled before.
        """
        before = self._compile_all()
        self._paths, self._said = self._find()
        # A variant may extend the file that changed, so all are compiled again; that is a matter of milliseconds.
        self._compiled = {}
        after = self._compile_all()
        broken = [
            one
            for one, now in after.items()
            if now.variant is None and _was_said_otherwise(before.get(one), now)
        ]
        for one, now in after.items():
            old = before.get(one)
            if now.variant is None and old is not None and old.variant is not None:
                self._compiled[one] = _Compiled(old.variant, now.diagnostics)
        return Changes(
            added=tuple(one for one, now in after.items() if one not in before and now.variant is not None),
            changed=tuple(
                one for one, now in after.items() if one in before and _has_changed(before[one], now)
            ),
            removed=tuple(sorted(before.keys() - after.keys())),
            broken=tuple(broken),
            diagnostics=tuple(in_order(said for one in broken for said in after[one].diagnostics)),
        )

    def _find(self) -> tuple[dict[str, Path], list[Diagnostic]]:
        paths: dict[str, Path] = {}
        said: list[Diagnostic] = []
        for folder in self._folders:
            for path in sorted(folder.glob("*.yaml")):
                known = paths.setdefault(path.stem, path)
                if known.resolve() != path.resolve():
                    message = f"{shown_path(known)} has the same id and is used in its place"
                    place = Place(shown_path(path), 1, 1, 2)
                    said.append(
                        Diagnostic(
                            code="R017",
                            severity=Severity.WARNING,
                            place=place,
                            message=message,
                            help="rename one",
                        )
                    )
        return paths, said

    def _compile_all(self) -> dict[str, _Compiled]:
        return {one: self._compile(one) for one in self.ids()}

    def _compile(self, variant: str) -> _Compiled:
        compiled = self._compiled.get(variant)
        if compiled is None:
            found, said = self.check(self._paths[variant])
            compiled = self._compiled[variant] = _Compiled(found, tuple(said))
        return compiled

    def _source(self, path: Path) -> Source | Diagnostic:
        # The stamp is taken first: a file that changes while it is read is read again next time.
        stamp = _stamp(path)
        file = self._files.get(path)
        if file is None or file.stamp != stamp:
            file = self._files[path] = _File(stamp, read_source(path))
        return file.source


def read_source(path: Path) -> Source | Diagnostic:
    """The text of a file, or the diagnostic that says why it can't be read. No more is read than a file may have."""
    try:
        if path.exists() and not path.is_file():
            return _unreadable(path, "this is not a plain file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unreadable(path, (error.strerror or "it can't be read").lower())
    return Source.from_bytes(shown_path(path), path.stem, data)


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the folder that the program runs in, where it is in there."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _unreadable(path: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        code="R016", severity=Severity.ERROR, place=Place(shown_path(path), 1, 1, 2), message=reason
    )


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, -1)
    return (status.st_mtime_ns, status.st_size)


def _has_changed(old: _Compiled, new: _Compiled) -> bool:
    return new.variant is not None and new.variant != old.variant


def _was_said_otherwise(old: _Compiled | None, new: _Compiled) -> bool:
    return old is None or old.diagnostics != new.diagnostics
