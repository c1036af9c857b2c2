"""Files that say what a study has come to: all trials, the best settings, and all of it for programs."""

import csv
import io
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from respawn.evaluation.out_files import written_aside
from respawn.presets import find_preset
from respawn.sweeps.definition import OF_THE_MACHINE, Definition, definition_to_plain
from respawn.sweeps.finals import Final
from respawn.sweeps.option_words import option_words
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.rows import STATES, TrialRow, best_first
from respawn.sweeps.toml_text import toml_lines
from respawn.sweeps.trial_config import trial_config
from respawn.training.config import config_to_json
from respawn.training.plan_file import flattened

_NOT_OF_THE_BEST = frozenset({"seed", "device", "threads"})


def best_settings(row: TrialRow, definition: Definition) -> dict[str, Any]:
    """All settings in which the best trial differs from its preset, by whole names, for another run of its kind."""
    preset = flattened(config_to_json(find_preset(definition.preset)))
    labels = {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.settings.items()}
    own = flattened(config_to_json(trial_config(definition, labels, row.trial)))
    return {
        name: value
        for name, value in own.items()
        if value != preset.get(name) and name not in _NOT_OF_THE_BEST and not name.startswith("observers.")
    }


def write_results(
    folder: StudyFolder, definition: Definition, rows: Sequence[TrialRow], finals: Sequence[Final]
) -> dict[str, Any]:
    """Write trials.csv, best.toml and summary.json; returns what the last one says."""
    _write(folder.trials, _as_csv(rows, list(definition.space)))
    ranked = best_first(rows, definition)
    if ranked:
        _write(folder.best, best_toml(folder.name, definition, ranked[0], finals))
    summary = summarised(folder.name, definition, rows, finals)
    _write(folder.summary, json.dumps(summary, indent=2) + "\n")
    return summary


def summarised(name: str, definition: Definition, rows: Sequence[TrialRow], finals: Sequence[Final]) -> dict[str, Any]:
    """All that is known of a study, as data."""
    plain = definition_to_plain(definition)
    plain.pop("base")
    counts = {state: sum(row.state == state for row in rows) for state in STATES.values()}
    ranked = best_first(rows, definition)
    return {
        "study": name,
        **plain,
        "seed": definition.base.seed,
        "decisions_per_trial": definition.evaluations * definition.interval_decisions,
        "counts": counts,
        "best": ranked[0].trial if ranked else None,
        "fresh_seeds": [asdict(final) for final in finals],
        "trials": [asdict(row) for row in rows],
    }


def best_toml(name: str, definition: Definition, best: TrialRow, finals: Sequence[Final]) -> str:
    """A file for `respawn train --config`."""
    again = next((final for final in finals if final.number == best.trial), None)
    fresh = "" if again is None else f", and {again.value:.4g} on {again.episodes} fresh seeds"
    settings = best_settings(best, definition)
    said = [
        f"# The best of the study '{name}': trial {best.trial}, {definition.objective} {best.value:.4g}{fresh}.",
        f"# respawn train --config best.toml{beside_the_file(settings)}",
        *toml_lines({"preset": definition.preset, **settings}),
    ]
    return "\n".join(said) + "\n"


def is_of_the_best(folder: StudyFolder, definition: Definition, best: TrialRow) -> bool:
    """Whether best.toml, which is there, says what the best trial was trained with: trials may have ended since.

    Where the game lies and the like it says for the machine that wrote it, which need not be this one.
    """
    return _told(folder.best.read_bytes()) == _told(best_toml("", definition, best, ()).encode())


def _told(file: bytes) -> dict[str, Any] | None:
    """What a file says, but for what each machine has of its own; None: it is no TOML."""
    try:
        said = flattened(tomllib.loads(file.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None
    return {name: value for name, value in said.items() if name not in OF_THE_MACHINE}


def beside_the_file(settings: Mapping[str, Any]) -> str:
    """Options that go with best.toml, after a space: TOML cannot say that there is to be none of something."""
    words = option_words({name: value for name, value in settings.items() if value is None})
    return f" {words}" if words else ""


def _as_csv(rows: Sequence[TrialRow], names: Sequence[str]) -> str:
    columns = ("trial", "state", "value", "run", "updates", "decisions", "seconds", "weights_sha256", "cause")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *names])
    for row in rows:
        drawn = (row.settings.get(name) for name in names)
        cells = (json.dumps(value) if isinstance(value, list) else value for value in drawn)
        writer.writerow([*(getattr(row, column) for column in columns), *cells])
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")
