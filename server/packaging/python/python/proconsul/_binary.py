"""Finding the server's binary."""

from __future__ import annotations

import os
import shutil
import site
import sys
import sysconfig
from pathlib import Path

from . import _module

#: Names the binary, in place of the one that the package brings.
VARIABLE = "PROCONSUL_BINARY"
NAME = "proconsul.exe" if os.name == "nt" else "proconsul"


class BinaryError(Exception):
    """There is no binary, or not the one of this package."""


def find_binary(binary: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of the server's binary.

    It is, in this order: the argument, what the variable PROCONSUL_BINARY names, what the package brings, and what is
    on the PATH.

    Raises BinaryError with a sentence that says what to do.
    """
    return _given_or_own(binary) or _on_path()


def find_command(binary: str | os.PathLike[str] | None = None) -> list[str]:
    """Returns how the server is started: the binary, or the module if the package brings that in place of one."""
    found = _given_or_own(binary)
    if found is None and _module.MODULE.is_file():
        return [sys.executable, _module.__file__]
    return [found or _on_path()]


def _given_or_own(binary: str | os.PathLike[str] | None) -> str | None:
    for given, whence in ((binary, "binary="), (os.environ.get(VARIABLE), VARIABLE)):
        if given:
            found = shutil.which(os.fspath(given))
            if found is None:
                raise BinaryError(f"{whence} names {os.fspath(given)!r}, which is not a program that can be run")
            return found
    for folder in _folders():
        path = folder / NAME
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def _on_path() -> str:
    on_path = shutil.which("proconsul")
    if on_path is None:
        raise BinaryError(
            "the binary of proconsul is not there: this platform may have no wheel. Build it with "
            f"`cargo install --path server/cli` in a clone of proconsul, or name it with {VARIABLE}"
        )
    return on_path


def _folders() -> list[Path]:
    """Where pip puts programs, for this package's kind of installation and for others."""
    found = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    scheme = sysconfig.get_preferred_scheme("user") if hasattr(sysconfig, "get_preferred_scheme") else None
    if scheme and site.ENABLE_USER_SITE:
        found.append(Path(sysconfig.get_path("scripts", scheme)))
    # `pip install --target` puts them beside the packages.
    found.append(Path(__file__).parent.parent / "bin")
    return found
