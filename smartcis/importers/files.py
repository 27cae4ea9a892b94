"""Files: a file, a folder or an archive, read within limits.

An archive is never unpacked: members are read one by one, each only as far as is allowed.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from smartcis.importers.errors import BrokenFile, ImportTooLarge, MissingFile, UnsafeArchive

LARGEST_BYTES = 200_000_000  # of one file; the largest published venues have a tenth
LARGEST_SUM_BYTES = 500_000_000
MOST_FILES = 2_000
MOST_INFLATED = 200  # bytes out of one byte; plans as text shrink ten to thirty times
ARCHIVES = frozenset({".zip", ".ifczip", ".imdf"})
HEAD_BYTES = 65_536


UNTELLING = frozenset(
    {"imdf", "osm", "ifc", "geojson", "data", "export", "map", "indoor", "building", "venue"}
)


def plain_name(name: str) -> str:
    """Returns a file's name without its ending, in small letters."""
    return name.split(".", maxsplit=1)[0].lower()


class Files:
    """What a path names.

    Args:
        path: a file, a folder, or an archive of either.

    Raises:
        MissingFile: there is nothing at the path.
        UnsafeArchive: the archive has absolute or climbing names, or inflates beyond measure.
        ImportTooLarge: more files or bytes than are read.
        BrokenFile: no readable archive.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[str, bytes] = {}
        self._zip: zipfile.ZipFile | None = None
        try:
            self.names = self._listed()
        except (OSError, ValueError) as fault:
            raise MissingFile(f"{path.name} cannot be read: {fault}", found=path.name) from fault

    @property
    def stem(self) -> str:
        """The path's name without its endings; of a folder called `imdf`, the one around it."""
        name = self.path.name
        if plain_name(name) in UNTELLING and self.path.resolve().parent.name:
            name = self.path.resolve().parent.name
        for suffix in reversed(self.path.suffixes):
            if len(suffix) <= 8 and not suffix[1:].isdigit():  # noqa: PLR2004  # .geojson
                name = name.removesuffix(suffix)
        return name or self.path.resolve().name

    def ending(self, *suffixes: str) -> list[str]:
        """Returns the names with one of these endings, in order."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def named(self, *bases: str) -> str | None:
        """Returns the name whose last part is one of these, the shallowest; None without."""
        wanted = [base.lower() for base in bases]
        found = [name for name in self.names if PurePosixPath(name).name.lower() in wanted]
        return min(found, key=lambda name: (name.count("/"), name), default=None)

    def read(self, name: str) -> bytes:
        """Returns a file's bytes.

        Raises:
            ImportTooLarge: more than 200 MB.
            BrokenFile: it cannot be read, or its archive is damaged.
        """
        if name not in self._read:
            self._read[name] = self._bytes(name, LARGEST_BYTES + 1)
            if len(self._read[name]) > LARGEST_BYTES:
                del self._read[name]
                raise ImportTooLarge(
                    f"{name} is too large",
                    found=name,
                    exists=[f"up to {LARGEST_BYTES} bytes"],
                    attempt="cut the file down to one building",
                )
        return self._read[name]

    def head(self, name: str) -> bytes:
        """Returns a file's first 64 KiB, without what text files may begin with."""
        head = self._read.get(name) or self._bytes(name, HEAD_BYTES)
        return head[:HEAD_BYTES].lstrip(b"\xef\xbb\xbf \r\n\t")

    def _listed(self) -> tuple[str, ...]:
        path = self.path
        if path.is_dir():
            found = [one for one in sorted(path.rglob("*")) if one.is_file()]
            if len(found) > MOST_FILES:
                raise ImportTooLarge(f"{path.name} holds {len(found)} files", found=path.name)
            return tuple(str(one.relative_to(path).as_posix()) for one in found)
        if not path.is_file():
            raise MissingFile(
                f"there is no {path.name}",
                found=str(path),
                attempt="give a file, a folder or an archive",
            )
        if path.suffix.lower() in ARCHIVES or zipfile.is_zipfile(path):
            return self._members()
        return (path.name,)

    def _members(self) -> tuple[str, ...]:
        try:
            self._zip = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, NotImplementedError) as fault:
            raise BrokenFile(
                f"{self.path.name} is no readable archive: {fault}", found=self.path.name
            ) from fault
        names = []
        members = [one for one in self._zip.infolist() if not one.is_dir()]
        if len(members) > MOST_FILES:
            raise ImportTooLarge(f"the archive holds {len(members)} files", found=self.path.name)
        for member in members:
            name = member.filename.replace("\\", "/")
            if name.startswith("/") or ":" in name.split("/")[0] or ".." in name.split("/"):
                raise UnsafeArchive(
                    "the archive has a file that lies outside of it",
                    found=name[:200],
                    attempt="pack the folder again, with names below it",
                )
            if member.file_size > MOST_INFLATED * max(member.compress_size, 1_000):
                raise UnsafeArchive(
                    f"{name[:200]} would grow {MOST_INFLATED} times and more",
                    found=name[:200],
                    attempt="give the files unpacked",
                )
            names.append(member.filename)
        if sum(member.file_size for member in members) > LARGEST_SUM_BYTES:
            raise ImportTooLarge(
                "the archive is too large unpacked",
                found=self.path.name,
                exists=[f"up to {LARGEST_SUM_BYTES} bytes"],
            )
        return tuple(sorted(set(names)))

    def _bytes(self, name: str, most: int) -> bytes:
        try:
            if self._zip is not None:
                with self._zip.open(name) as member:
                    return member.read(most)
            path = self.path / name if self.path.is_dir() else self.path
            with path.open("rb") as stream:
                return stream.read(most)
        except (
            OSError,
            EOFError,
            KeyError,
            RuntimeError,
            NotImplementedError,
            zipfile.BadZipFile,
            zlib.error,
        ) as fault:
            raise BrokenFile(f"{name} cannot be read: {fault}", found=name) from fault

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)
