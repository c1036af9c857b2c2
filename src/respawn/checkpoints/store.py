"""Reading checkpoints: finding one that is whole, and putting every part back or none."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.manifest import Manifest, file_sha256
from respawn.checkpoints.retention import in_order_of_merit
from respawn.contracts.saveable import Saveable, StateTree
from respawn.errors import CheckpointAccessError, CheckpointError

WEIGHTS = "weights"
"""The name of the part that holds the model's weights, so that they can be read without the rest."""

OTHER_SETTINGS = (
    "made with other settings than config.json holds now, and one of the two is not this run's; put the run's own "
    "config.json (or checkpoint) back from a copy, or start a new run"
)
"""Why a run may not go on from a checkpoint whose settings are not its own, to follow on 'it was'."""

SUPERSEDED = ".superseded-"
"""How the name of a checkpoint begins that another one of the same update is about to replace."""

_MOST_LOOKS = 3
"""Times that checkpoints are looked for, where a run deletes them faster than they can be read."""


@dataclass(frozen=True)
class Identity:
    """What a checkpoint must be of, to be of any use to a run."""

    config_sha256: str
    world: str


@dataclass(frozen=True)
class Found:
    """A whole checkpoint, verified, and the damaged ones that were passed over to reach it."""

    path: Path
    manifest: Manifest
    passed_over: tuple[str, ...]


def saved(folder: Path) -> list[Path]:
    """The checkpoints in `folder`, oldest first, whole or not.

    One that was to be replaced by a process that was killed before it was has another name until the run is taken up.
    """
    there = {path.name: path for path in folder.glob("u????????") if path.is_dir()}
    for path in folder.glob(f"{SUPERSEDED}u????????"):
        there.setdefault(path.name.removeprefix(SUPERSEDED), path)
    return [there[name] for name in sorted(there)]


def read_manifest(path: Path) -> Manifest:
    """A checkpoint's manifest, checked against itself."""
    try:
        return Manifest.from_json((path / "manifest.json").read_text())
    except PermissionError as error:
        raise CheckpointAccessError(f"manifest.json may not be read ({error}); see to its permissions") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"manifest.json cannot be read ({error})") from error


def find_newest(folder: Path, only: str | None = None) -> Found | None:
    """The newest checkpoint whose every file is as it was written; None where there is none at all.

    Args:
      folder: holds the checkpoints.
      only: consider no other than the one of this name.

    Raises:
      CheckpointError: there are checkpoints and all of them are damaged.
    """
    return _find_newest(folder, only, _MOST_LOOKS)


def _find_newest(folder: Path, only: str | None, looks: int) -> Found | None:
    passed_over: list[str] = []
    for path in reversed([path for path in saved(folder) if only in (None, path.name.removeprefix(SUPERSEDED))]):
        try:
            return Found(path, verify(path), tuple(passed_over))
        except CheckpointAccessError as error:
            # Not damaged: going back to an older one would throw away what a newer program, or another user, made.
            raise CheckpointAccessError(f"checkpoint {path} cannot be used: {error}") from error
        except CheckpointError as error:
            if looks > 1 and not path.exists():
                return _find_newest(folder, only, looks - 1)  # the run that goes on has deleted it, and made others
            passed_over.append(f"{path.name}: {error}")
    if passed_over:
        which, remedy = "every checkpoint", "put one back from a copy, or start a new run"
        if only is not None:
            which, remedy = "the checkpoint asked for", "put it back from a copy, or name another"
        raise CheckpointError(f"{which} in {folder} is damaged ({'; '.join(passed_over)}); {remedy}")
    return None


def find_best(folder: Path, config: CheckpointsConfig) -> Found | None:
    """The whole checkpoint that evaluated best, or the newest where none was evaluated.

    Passed over are those that evaluated better, and those that cannot say how they did.
    """
    return _find_best(folder, config, _MOST_LOOKS)


def _find_best(folder: Path, config: CheckpointsConfig, looks: int) -> Found | None:
    manifests: dict[str, Manifest] = {}
    passed_over: dict[str, str] = {}
    for path in saved(folder):
        try:
            manifests[path.name] = read_manifest(path)
        except CheckpointError as error:
            passed_over[path.name] = str(error)
    for name in in_order_of_merit(manifests, config):
        path = folder / name
        try:
            return Found(path, verify(path), _reasons(folder, passed_over))
        except CheckpointError as error:
            if looks > 1 and not path.exists():
                return _find_best(folder, config, looks - 1)  # the run that goes on has deleted it, for a better one
            passed_over[name] = str(error)
    found = find_newest(folder)
    return None if found is None else replace(found, passed_over=_reasons(folder, passed_over, found.passed_over))


def _reasons(folder: Path, problems: Mapping[str, str], known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What is wrong with which checkpoints, the newest first; those that were deleted meanwhile had nothing wrong."""
    told = {f"{name}: {problem}" for name, problem in problems.items() if (folder / name).exists()}
    return tuple(sorted({*told, *known}, reverse=True))


def verify(path: Path) -> Manifest:
    """Check a checkpoint's files against its manifest; raises CheckpointError naming the first that differs."""
    manifest = read_manifest(path)
    for name in manifest.files:
        check_file(path, manifest, name)
    return manifest


def check_file(path: Path, manifest: Manifest, name: str) -> None:
    """Raise CheckpointError unless a file of a checkpoint is there, as it was written."""
    file = path / name
    if not file.is_file():
        raise CheckpointError(f"{name} is missing")
    with _readable(name):
        found = file_sha256(file)
    if found != manifest.files[name]:
        raise CheckpointError(f"{name} does not match its SHA-256 in the manifest")


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """While inside, a file that cannot be read, as one that was deleted just now, is an error of the checkpoint's."""
    try:
        yield
    except PermissionError as error:
        raise CheckpointAccessError(f"{name} may not be read ({error}); see to its permissions") from error
    except OSError as error:
        raise CheckpointError(f"{name} cannot be read ({error})") from error


def read_part(path: Path, manifest: Manifest, name: str) -> StateTree:
    """One part of a verified checkpoint."""
    # Imported only now: finding checkpoints needs no torch, which takes seconds to load.
    from respawn.checkpoints.codec import decode

    suffixes = [suffix for suffix in (".json", ".safetensors") if f"{name}{suffix}" in manifest.files]
    with _readable(name):
        files = {suffix: (path / f"{name}{suffix}").read_bytes() for suffix in suffixes}
    if not files:
        raise CheckpointError(f"checkpoint {path} has no part '{name}'; it holds {sorted(manifest.files)}")
    return decode(files)


def check_identity(found: Found, identity: Identity) -> None:
    """Raise CheckpointError if `found` is of another world, or of other settings, than the run that wants to use it."""
    manifest = found.manifest
    if manifest.world != identity.world:
        raise CheckpointError(
            f"checkpoint {found.path} is of another world: it was made in {manifest.world}, "
            f"this run is in {identity.world}; use the run that it belongs to"
        )
    if manifest.config_sha256 != identity.config_sha256:
        raise CheckpointError(f"checkpoint {found.path} was {OTHER_SETTINGS}")


def restore(found: Found, parts: Mapping[str, Saveable], may_lack: Collection[str] = ()) -> None:
    """Put every part back. All are read before the first is touched, so a bad file changes nothing.

    Args:
      found: the checkpoint.
      parts: what is put back, by name.
      may_lack: parts that stay as they are where the checkpoint has none of that name.
    """
    held = {file.partition(".")[0] for file in found.manifest.files}
    states = {
        name: read_part(found.path, found.manifest, name) for name in parts if name in held or name not in may_lack
    }
    for name, state in states.items():
        try:
            parts[name].restore(state)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"part '{name}' of checkpoint {found.path} does not say what this version of respawn expects "
                f"({type(error).__name__}: {error}); resume with respawn {found.manifest.respawn_version}"
            ) from error
