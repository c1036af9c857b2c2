import os

import pytest

from respawn.errors import ConfigError, RunFolderError
from respawn.evaluation.publish import publish
from respawn.runs.layout import create


def test_figures_come_first_so_that_the_history_can_name_them(fish):
    parts = []
    made = publish(fish, svg=False, only=["multi_eval_hist", "artefacts"], tell=lambda doing, part: parts.append(part))
    assert parts == sorted(parts) and parts[-1] <= 1
    history = (fish.path / "artefacts" / "eval_multi_history.jsonl").read_text()
    assert '"death_hist_path": "plots/v40_multi_eval_hist/v40_iter056_death_hist.png"' in history
    assert made.health["learning"] is False and made.figures.paths and made.artefacts.paths


def test_only_what_was_asked_for_is_made(fish):
    made = publish(fish, svg=False, only=["survival"])
    assert made.artefacts.paths == [] and not (fish.path / "artefacts").exists()
    assert publish(fish, only=["artefacts"]).figures.paths == []
    with pytest.raises(ConfigError, match=r"choose from survival, .*, artefacts$"):
        publish(fish, only=["artifacts"])


def test_other_worlds_have_no_artefacts(tmp_path):
    folder = create(tmp_path, "pole", {}, {})
    made = publish(folder)
    assert made.artefacts.paths == [] and set(made.figures.left_out) == {"learning_curve", "learning_health"}
    with pytest.raises(ConfigError, match="no figure called artefacts"):
        publish(folder, only=["artefacts"])


def test_a_folder_of_somebody_else_is_told(fish, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(RunFolderError, match="cannot be written; copy it first"):
        publish(fish)
