"""Files that a user names: read whole, but never more of them than there can be good reason for."""

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
