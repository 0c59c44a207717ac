"""Variants found by their ids in folders of YAML files, compiled once and kept.

The only place that opens files of rules. What is in them is decided by ``chilkoot.language``; ids come from the names of
files that are there, never the other way round, so no id can lead outside the folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
    has_errors,
    in_order,
)

__all__ = ["Changes", "Library", "read_source", "shown_path"]


class Changes(msgspec.Struct, frozen=True):
    """What a look at the folders found since the last one, by ids.

    A `broken` variant has errors now; the one that was compiled before stays in use where there is one. A `mended` one
    had errors before. `diagnostics` are the errors of broken variants that were not said before.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


_Stamp = tuple[int, ...]
"""What tells that a file is another one now, or has been written to."""


class _File(msgspec.Struct, frozen=True):
    """A file as it was read."""

    stamp: _Stamp
    source: Source | Diagnostic


class _Compiled(msgspec.Struct, frozen=True):
    """A variant, the errors that were found, and all that it was made from: files (absent ones too), and ids that were looked up."""

    variant: Variant | None
    diagnostics: tuple[Diagnostic, ...]
    stamps: dict[Path, _Stamp] = {}
    found: dict[str, Path | None] = {}

    @property
    def is_broken(self) -> bool:
        return has_errors(self.diagnostics)


class _Shelf(msgspec.Struct, frozen=True):
    """The folders as they were at one time. Replaced as one, so that who asks while another thread looks sees old or new."""

    paths: dict[str, Path]
    hidden: tuple[Diagnostic, ...]
    compiled: dict[str, _Compiled]


class Library:
    """The variants in some folders of rules; of two files with one id the one in the earlier folder counts.

    Variants are compiled when they are first asked for, and kept until `refresh` finds that a file has changed.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._files: dict[Path, _File] = {}
        self._shelf = self._find()

    def ids(self) -> list[str]:
        """The ids of all files, sorted, whether or not they compile."""
        return sorted(self._shelf.paths)

    def path(self, variant: str) -> Path | None:
        """The file of a variant, None where there is none."""
        return self._shelf.paths.get(variant)

    def variant(self, variant: str) -> Variant | None:
        """The variant with that id; None where there is no such file or it has errors."""
        shelf = self._shelf
        return self._compile(shelf, variant).variant if variant in shelf.paths else None

    def variants(self) -> list[Variant]:
        """All variants that compile, sorted by id."""
        shelf = self._shelf
        found = (self._compile(shelf, one).variant for one in sorted(shelf.paths))
        return [one for one in found if one is not None]

    @property
    def errors(self) -> list[Diagnostic]:
        """What refuses files of the folders, each thing once."""
        shelf = self._shelf
        return in_order(said for one in sorted(shelf.paths) for said in self._compile(shelf, one).diagnostics)

    @property
    def hidden(self) -> list[Diagnostic]:
        """The warnings that a file is not used, for one of an earlier folder has its id."""
        return list(self._shelf.hidden)

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
        return compile_variant(source, self.loader(beside), ids=self._shelf.paths)

    def loader(self, beside: Path | None = None) -> Loader:
        """What finds the file of an extended variant: in the folder `beside`, then in the library's folders."""
        return self._loader(self._shelf.paths, beside, {}, {})

    def refresh(self) -> Changes:
        """Look at the folders again and compile what is new or has changed, variants that extend it included.

        A file that is broken now keeps the variant that was compiled before. Cheap where nothing has changed, and may run
        in another thread than those who ask for variants.
        """
        old = self._shelf
        before = {one: self._compile(old, one) for one in sorted(old.paths)}
        now = self._find()
        stamps = {path: _stamp(path) for one in before.values() for path in one.stamps}
        fresh: list[str] = []
        for one in sorted(now.paths):
            known = before.get(one)
            if known is not None and _still_holds(known, stamps, now.paths):
                now.compiled[one] = known
                continue
            compiled = self._compile(now, one)
            fresh.append(one)
            if compiled.variant is None and known is not None:
                now.compiled[one] = msgspec.structs.replace(compiled, variant=known.variant)
        self._shelf = now
        return _changes(before, now.compiled, fresh)

    def _find(self) -> _Shelf:
        paths: dict[str, Path] = {}
        said: list[Diagnostic] = []
        for folder in self._folders:
            for path in sorted(folder.glob("*.yaml")):
                known = paths.setdefault(path.stem, path)
                if known is not path and known.resolve() != path.resolve():
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
        return _Shelf(paths, tuple(said), {})

    def _compile(self, shelf: _Shelf, variant: str) -> _Compiled:
        compiled = shelf.compiled.get(variant)
        if compiled is None:
            path = shelf.paths[variant]
            source = self._source(path)
            stamps = {path: self._files[path].stamp}
            found: dict[str, Path | None] = {variant: path}
            if isinstance(source, Diagnostic):
                compiled = _Compiled(None, (source,), stamps, found)
            else:
                loader = self._loader(shelf.paths, path.parent, stamps, found)
                made, said = compile_variant(source, loader, ids=shelf.paths, errors_only=True)
                compiled = _Compiled(made, tuple(said), stamps, found)
            shelf.compiled[variant] = compiled
        return compiled

    def _loader(
        self,
        paths: Mapping[str, Path],
        beside: Path | None,
        stamps: dict[Path, _Stamp],
        found: dict[str, Path | None],
    ) -> Loader:
        """A loader that writes down which files it looked at, and where each id led."""

        def load(variant: str) -> Source | None:
            # An id has neither dots nor slashes, so the path can't leave the folder.
            if not re.fullmatch(ID_PATTERN, variant):
                return None
            near = beside / f"{variant}.yaml" if beside is not None else None
            found[variant] = paths.get(variant)
            for path in (near, paths.get(variant)):
                if path is None:
                    continue
                if not path.is_file():
                    stamps[path] = _stamp(path)
                    continue
                source = self._source(path)
                stamps[path] = self._files[path].stamp
                return source if isinstance(source, Source) else None
            return None

        return load

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


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except OSError:
        return ()
    # A file put in the place of another may have its size and its time.
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _still_holds(one: _Compiled, stamps: Mapping[Path, _Stamp], paths: Mapping[str, Path]) -> bool:
    return all(stamps[path] == stamp for path, stamp in one.stamps.items()) and all(
        paths.get(variant) == path for variant, path in one.found.items()
    )


def _changes(before: Mapping[str, _Compiled], now: Mapping[str, _Compiled], fresh: Iterable[str]) -> Changes:
    """What differs between two looks; only `fresh` variants can."""
    pairs = {one: (before.get(one), now[one]) for one in fresh}
    broken = tuple(
        one
        for one, (old, new) in pairs.items()
        if new.is_broken and (old is None or old.diagnostics != new.diagnostics)
    )
    said = {one for old in before.values() for one in old.diagnostics}
    return Changes(
        added=tuple(one for one, (old, new) in pairs.items() if old is None and not new.is_broken),
        changed=tuple(
            one for one, (old, new) in pairs.items() if old is not None and old.variant != new.variant
        ),
        removed=tuple(sorted(before.keys() - now.keys())),
        broken=broken,
        mended=tuple(
            one
            for one, (old, new) in pairs.items()
            if old is not None and old.is_broken and not new.is_broken
        ),
        diagnostics=tuple(in_order(new for one in broken for new in now[one].diagnostics if new not in said)),
    )
