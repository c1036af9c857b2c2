"""Files of a user: where ours lie, and those they name, of which no more is read than there can be good reason for."""

import os
from pathlib import Path

from respawn.errors import RespawnError


def read_whole(path: Path, most_bytes: int, what: str, kind: type[RespawnError]) -> bytes:
    """The bytes of a file.

    Args:
      path: The file.
      most_bytes: Refuse a larger one, before it is read.
      what: What it should be, for the messages, such as 'the movie'.
      kind: What to raise.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise kind(f"{what} {path} is not there; check the path") from None
    except IsADirectoryError:
        raise kind(f"{what} {path} is a folder; name a file in it") from None
    except PermissionError:
        raise kind(f"{what} {path} may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        raise kind(f"{what} {path} cannot be read ({error}); check the path and the disk") from None
    if len(data) > most_bytes:
        raise kind(f"{what} {path} has more than {most_bytes:,} bytes, so it is something else; name another file")
    return data


def user_config_folder() -> Path:
    """Where the user says what is the same for every run on this machine."""
    return _user_folder("XDG_CONFIG_HOME", ".config")


def user_cache_folder() -> Path:
    """Where we keep what can be made again."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def _user_folder(variable: str, default: str) -> Path:
    # The XDG rules: a relative path in the variable counts as none.
    named = Path(os.environ.get(variable) or "")
    if named.is_absolute():
        return named / "respawn"
    try:
        return Path.home() / default / "respawn"
    except RuntimeError:  # a user without a home: a place where nothing is found and nothing can be written
        return Path(os.devnull, "respawn")
