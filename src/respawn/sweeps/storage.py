"""Where a study is kept, and how trials are chosen and cut short: all that is Optuna's, by the names we have for it."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from respawn.errors import ConfigError, RunFolderError, StudyError
from respawn.maths.seeding import derive_seed
from respawn.sweeps.definition import Definition, check_same, definition_from_plain, definition_to_plain
from respawn.sweeps.places import StudyFolder

SamplerName: TypeAlias = Literal["tpe", "random"]
PrunerName: TypeAlias = Literal["median", "hyperband", "none"]
DEFINITION = "respawn"
"""The study's attribute that says what it is."""
JOURNAL = "journal:"
"""Begins the name of a file that several machines can write to over a network."""
_SECONDS_FOR_SQLITE = 120.0
"""Workers wait so long for each other's turn to write."""
_TABLE = "studies"
"""A table that Optuna's databases have."""
_UNPRUNED_TRIALS = 4
"""So many trials go on to their end before any is cut short."""
_UNPRUNED_PART = 0.25
"""No trial is cut short before this part of it."""


def storage_url(folder: StudyFolder, asked: str | None) -> str:
    """The URL that is meant: without one, a file in the study's folder."""
    here = URL.create("sqlite", database=str(folder.database.absolute()))  # a path may hold what ends one in a URL
    return asked or here.render_as_string(hide_password=False)


def open_study(
    url: str, name: str, definition: Definition, prepare: Callable[[bool], None] = lambda has_trials: None
) -> optuna.Study:
    """The study, made if it is not there; raises ConfigError where it is of something else.

    Nothing is made before it is certain that it may be, so that nothing has to be taken back: by then others may be at
    work on it.

    Args:
      url: where it is kept.
      name: of the study.
      definition: what it is to be.
      prepare: is told whether it has trials already, does what else is needed for it, and may refuse.
    """
    _quieten()
    plain = definition_to_plain(definition)
    with _storage_errors_told(url):
        storage = _storage(url)
        there = _found(storage, name)
        has_trials = there is not None and bool(there.get_trials(deepcopy=False))
        kept = None if there is None else there.user_attrs.get(DEFINITION)
    if kept is not None:
        check_same(plain, kept, name)
    elif has_trials:
        raise ConfigError(f"there is a study '{name}' that respawn did not make; give another --name")
    prepare(has_trials)
    with _storage_errors_told(url):
        direction = StudyDirection.MAXIMIZE if definition.direction == "maximise" else StudyDirection.MINIMIZE
        study = optuna.create_study(storage=storage, study_name=name, direction=direction, load_if_exists=True)
        kept = study.user_attrs.get(DEFINITION)
        if kept is None:
            study.set_user_attr(DEFINITION, plain)
    if kept is not None:
        check_same(plain, kept, name)  # again: another machine may have made it meanwhile
    return study


def _found(storage: optuna.storages.BaseStorage, name: str) -> optuna.Study | None:
    try:
        return optuna.load_study(study_name=name, storage=storage)
    except KeyError:
        return None


def load_study(url: str, name: str) -> tuple[optuna.Study, Definition]:
    """A study that is there, and what it is; raises RunFolderError where it is not."""
    _quieten()
    with _storage_errors_told(url):
        study = _found(_storage(url), name) if _is_a_storage(url) else None
        if study is None:
            raise RunFolderError(f"there is no study '{name}' there; begin one with: respawn sweep PRESET")
        kept = study.user_attrs.get(DEFINITION)
    if kept is None:
        raise RunFolderError(f"the study '{name}' was not made by respawn; name another")
    return study, definition_from_plain(kept)


def sampler(name: SamplerName, seed: int, number: int) -> optuna.samplers.BaseSampler:
    """What draws the settings of one trial.

    Its chance comes from the study's seed and the trial's number alone, which the trial has before it is drawn: workers
    that begin side by side, on whatever machines, do not draw the same, and a study that was left goes on as if it had
    not been.
    """
    own = derive_seed(seed, "sweep", number) % 2**32
    if name == "random":
        return optuna.samplers.RandomSampler(seed=own)
    # Trials that are not told of yet count as bad ones, so that workers do not look in the same place.
    return optuna.samplers.TPESampler(seed=own, constant_liar=True)


def pruner(name: PrunerName, definition: Definition) -> optuna.pruners.BasePruner:
    """What cuts trials short; steps are decisions."""
    interval, whole = definition.interval_decisions, definition.evaluations * definition.interval_decisions
    if name == "none":
        return optuna.pruners.NopPruner()
    if name == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=interval, max_resource=whole)
    return optuna.pruners.MedianPruner(
        n_startup_trials=_UNPRUNED_TRIALS, n_warmup_steps=int(whole * _UNPRUNED_PART), interval_steps=interval
    )


def _storage(url: str) -> optuna.storages.BaseStorage:
    if url.startswith(JOURNAL):
        path = url.removeprefix(JOURNAL)
        if not path:
            raise ConfigError(f"--storage {JOURNAL} wants a file behind it, and nothing came")
        return optuna.storages.JournalStorage(JournalFileBackend(path))
    return optuna.storages.get_storage(optuna.storages.RDBStorage(url, engine_kwargs=_for_the_engine(url)))


def _for_the_engine(url: str) -> dict[str, Any]:
    return {"connect_args": {"timeout": _SECONDS_FOR_SQLITE}} if url.startswith("sqlite") else {}


def _is_a_storage(url: str) -> bool:
    """Whether there are studies to look for: to open a storage that is not there would make it."""
    if url.startswith(JOURNAL):
        path = url.removeprefix(JOURNAL)
        return not path or Path(path).exists()
    place = make_url(url)
    is_a_file = place.get_backend_name() == "sqlite" and place.database not in (None, "", ":memory:")
    if is_a_file and not str(place.database).startswith("file:") and not Path(str(place.database)).exists():
        return False
    engine = create_engine(url, **_for_the_engine(url))
    try:
        return inspect(engine).has_table(_TABLE)
    finally:
        engine.dispose()


def _place(url: str) -> str:
    """Where it is: a file by its path, a server without what logs in there."""
    kind, _, rest = url.partition(":")
    return rest.removeprefix("///") if kind in ("sqlite", JOURNAL.rstrip(":")) else f"one of '{kind}'"


@contextmanager
def _storage_errors_told(url: str) -> Iterator[None]:
    kind = url.partition(":")[0]
    try:
        yield
    except (ArgumentError, NoSuchModuleError):
        raise ConfigError(
            f"--storage wants a URL such as sqlite:///study.db, postgresql://host/name or {JOURNAL}FILE, and one of "
            f"'{kind}' came"
        ) from None
    except ImportError as error:
        raise ConfigError(f"--storage of '{kind}' needs a driver that is not installed ({error})") from None
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, OSError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"the study's storage, {_place(url)}, cannot be opened ({_cause(error)}); check that it is there, yours "
            "and whole, or put it back from a copy; the runs of its trials are whole without it"
        ) from None


@contextmanager
def storage_failures_told() -> Iterator[None]:
    """While inside, a storage that was opened and then fails is told of in one sentence."""
    try:
        yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        raise StudyError(
            f"the study's storage failed ({_cause(error)}); its runs are in their folders: mend the storage, and the "
            "same command goes on"
        ) from error


def _cause(error: BaseException) -> str:
    """What the database itself said, and no more: the rest may hold the password."""
    if isinstance(error, optuna.exceptions.StorageInternalError) and error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _quieten() -> None:
    """Progress is told by the sweep, in its own words."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("alembic").setLevel(logging.ERROR)
    for kind in (UserWarning, optuna.exceptions.ExperimentalWarning):
        warnings.filterwarnings("ignore", category=kind, module="optuna")
