"""Whether checkpoints are whole, and whether the run around them is still theirs. Nothing is changed by asking."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from respawn.checkpoints.manifest import Manifest
from respawn.checkpoints.store import OTHER_SETTINGS, WEIGHTS, check_file, read_manifest, read_part
from respawn.errors import CheckpointAccessError, CheckpointError, RunFolderError
from respawn.runs.kept_rows import RowsLetGo, check_kept

State: TypeAlias = Literal["whole", "damaged", "unreadable", "let go", "unknown"]
"""let go: deleted on purpose, as the run's settings say. unknown: there is nothing to compare with."""

SIDES = ("files", "parts", "rows", "settings", "world")
"""What is looked at: each file's SHA-256, whether parts say states, the rows of the streams' files as they were then,
and whose checkpoint it is."""

OBSERVERS = "observers"
"""The part that knows how long each stream was."""

_MOST_ROUNDS = 3
"""Times that all checkpoints are looked at, where a run deletes them faster than that."""


@dataclass(frozen=True)
class Verdict:
    """How one side of a checkpoint is."""

    state: State = "whole"
    problems: tuple[str, ...] = ()

    @property
    def is_bad(self) -> bool:
        """Whether somebody should see to it."""
        return self.state in ("damaged", "unreadable")


@dataclass(frozen=True)
class Surroundings:
    """What a checkpoint is compared with. None: there is no such thing where it lies."""

    streams: Mapping[str, Path] | None = None
    """the streams whose rows a resumed run continues, by name"""
    config_sha256: str | None = None
    world: str | None = None
    settings_problem: str = ""
    """why the run's settings cannot be read, if they cannot"""
    world_problem: str = ""
    """why its world cannot be made, if it cannot"""
    beginning_problem: str = ""
    """why a run without checkpoints cannot be begun at its beginning, if it cannot"""


@dataclass(frozen=True)
class Examined:
    """A checkpoint, looked at from all sides."""

    path: Path
    manifest: Manifest | None
    """None: it cannot be read"""
    size_bytes: int
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """by side, in order; only the files' where those are not whole"""

    @property
    def is_whole(self) -> bool:
        """Whether nobody need see to it."""
        return not any(verdict.is_bad for verdict in self.verdicts.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """All that is to be said of it."""
        return tuple(problem for verdict in self.verdicts.values() for problem in verdict.problems)

    @property
    def hurdles(self) -> dict[str, tuple[str, ...]]:
        """What stands against resuming from it, by side; rows that were let go on purpose are gone all the same."""
        verdicts = self.verdicts.items()
        return {side: verdict.problems for side, verdict in verdicts if verdict.is_bad or verdict.state == "let go"}


def examine(
    path: Path, around: Surroundings, tell: Callable[[str, float], None] = lambda doing, share: None
) -> Examined:
    """Look at a checkpoint from all sides.

    Args:
      path: its folder.
      around: what it is compared with.
      tell: is told what is being looked at, and how much of all files has been.
    """
    size = sum(_size(file) for file in path.glob("*"))
    try:
        manifest = read_manifest(path)
    except CheckpointError as error:
        return Examined(path, None, size, {"files": _verdict_of(error)})
    files = _files(path, manifest, tell)
    if files.state != "whole":
        return Examined(path, manifest, size, {"files": files})
    looks: Mapping[str, Callable[[], Verdict]] = {
        "parts": lambda: _parts(path, manifest),
        "rows": lambda: look_at_rows(path, manifest, around.streams),
        "settings": lambda: _settings(manifest, around),
        "world": lambda: _world(manifest, around),
    }
    return Examined(path, manifest, size, {"files": files, **{side: look() for side, look in looks.items()}})


def examine_all(
    find: Callable[[], Sequence[Path]],
    around: Surroundings,
    tell: Callable[[str, float], None] = lambda doing, share: None,
) -> list[Examined]:
    """Look at every checkpoint, oldest first, but for those that a run that goes on deletes meanwhile.

    Args:
      find: answers which there are; none are left in the end where they are deleted faster than they can be looked at.
      around: what they are compared with.
      tell: as in `examine`.
    """
    for _ in range(_MOST_ROUNDS):
        paths = find()
        found = [
            examine(path, around, _as_part(tell, done, len(paths)))
            for done, path in enumerate(reversed(paths))  # the newest first, which is the last to be deleted
        ]
        left = [each for each in reversed(found) if each.is_whole or each.path.exists()]
        if left or not paths:
            return left
    return []


def _as_part(tell: Callable[[str, float], None], done: int, of: int) -> Callable[[str, float], None]:
    """Tell of one checkpoint as a part of all."""
    return lambda doing, share: tell(doing, (done + share) / of)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # it cannot be looked at, or a run that goes on has just deleted it
        return 0


def _verdict_of(*errors: Exception) -> Verdict:
    """By the first of them, as resuming goes by it: what may not be read here may well be whole."""
    unreadable = isinstance(errors[0], CheckpointAccessError)
    return Verdict("unreadable" if unreadable else "damaged", tuple(str(error) for error in errors))


def _files(path: Path, manifest: Manifest, tell: Callable[[str, float], None]) -> Verdict:
    sizes = {name: _size(path / name) for name in manifest.files}
    whole, seen, errors = max(sum(sizes.values()), 1), 0, []
    for name, size in sizes.items():
        tell(f"{path.name}/{name}", seen / whole)
        try:
            check_file(path, manifest, name)
        except CheckpointError as error:
            errors.append(error)
        seen += size
    return _verdict_of(*errors) if errors else Verdict()


def _parts(path: Path, manifest: Manifest) -> Verdict:
    # Imported only now: they need torch, which takes seconds to load.
    from respawn.checkpoints.codec import tensors_sha256
    from respawn.checkpoints.contents import check_readable, part_names

    errors = []
    for name in part_names(manifest):
        try:
            check_readable(path, manifest, name)
            if name == WEIGHTS and tensors_sha256(read_part(path, manifest, name)) != manifest.weights_sha256:
                raise CheckpointError("the weights are not those whose SHA-256 the manifest names")
        except CheckpointError as error:
            errors.append(error)
    return _verdict_of(*errors) if errors else Verdict()


def look_at_rows(path: Path, manifest: Manifest, streams: Mapping[str, Path] | None) -> Verdict:
    """Whether the streams, by name, still hold what resuming from a checkpoint reads of them, as it was."""
    from respawn.checkpoints.contents import read_structure

    if streams is None:
        return Verdict("unknown")
    if f"{OBSERVERS}.json" not in manifest.files:
        return Verdict("damaged", (f"there is no part '{OBSERVERS}', which says how long the streams were",))
    try:
        known = read_structure(path, manifest, OBSERVERS)
    except CheckpointError as error:
        return _verdict_of(error)
    missing, let_go = [], []
    for name, stream in streams.items():
        try:
            if name in known:
                check_kept(stream, known[name])
        except RowsLetGo as error:
            let_go.append(str(error))
        except RunFolderError as error:
            missing.append(str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            missing.append(
                f"{OBSERVERS}.json does not say how long {stream.name} was ({type(error).__name__}: {error})"
            )
    if missing:
        return Verdict("damaged", tuple(missing))
    return Verdict("let go", tuple(let_go)) if let_go else Verdict()


def _settings(manifest: Manifest, around: Surroundings) -> Verdict:
    if around.settings_problem:
        return Verdict("unreadable", (around.settings_problem,))
    if around.config_sha256 is None:
        return Verdict("unknown")
    if around.config_sha256 == manifest.config_sha256:
        return Verdict()
    return Verdict("damaged", (f"it was {OTHER_SETTINGS}",))


def _world(manifest: Manifest, around: Surroundings) -> Verdict:
    if around.world_problem:
        return Verdict("unreadable", (around.world_problem,))
    if around.world is None:
        return Verdict("unknown")
    if around.world == manifest.world:
        return Verdict()
    return Verdict("damaged", (f"it was made in {manifest.world}, and the run is in {around.world}",))
