"""What a study has come to, as files."""

import csv
import json
from dataclasses import replace

from small_studies import SPACE, definition_of, folder_in, row, tiny

from respawn.presets import find_preset
from respawn.sweeps.finals import Final
from respawn.sweeps.results import beside_the_file, best_settings, best_toml, is_of_the_best, summarised, write_results
from respawn.sweeps.trial_config import trial_config
from respawn.training.config_file import with_config_file

ROWS = [
    row(0, 1.0), row(1, 3.0), row(2, 0.5, "pruned", updates=2), row(3, None, "failed", cause="the pole\nbroke"),
    row(4, None, "running", seconds=None),
]  # fmt: skip
FINALS = [Final(1, "small-t0001", "u00000006", "abc", 2.5, 100, 5_000_000)]
LABELS = {"learner.clip": 0.11, "model.hidden_sizes": "[8, 8]"}


def test_the_best_settings_make_the_same_run_again_but_for_its_seed(tmp_path):
    definition = definition_of(base=tiny(seed=40))
    folder = folder_in(tmp_path)
    write_results(folder, definition, ROWS, FINALS)
    preset = find_preset("cartpole-ppo")
    read = with_config_file(preset, folder.best)
    trial = trial_config(definition, LABELS, 1)
    assert replace(read, seed=41, device="cpu", observers=trial.observers) == trial
    assert read.seed == preset.seed and read.observers == preset.observers
    text = folder.best.read_text()
    assert text.startswith(
        "# The best of the study 'small': trial 1, evaluation/return_mean 3, and 2.5 on 100 fresh seeds.\n"
        "# respawn train --config best.toml\n"
    )
    assert "fresh" not in best_toml("small", definition, ROWS[1], [])


def test_a_file_is_of_the_best_until_another_is(tmp_path):
    definition, folder = definition_of(), folder_in(tmp_path)
    write_results(folder, definition, ROWS, [])
    assert is_of_the_best(folder, definition, ROWS[1])
    elsewhere = replace(definition, base=replace(definition.base, threads=7, device="cuda:1"))
    assert is_of_the_best(folder, elsewhere, ROWS[1])
    assert not is_of_the_best(folder, definition, ROWS[0])
    for damaged in (b"learner = {", b"\xff"):
        folder.best.write_bytes(damaged)
        assert not is_of_the_best(folder, definition, ROWS[1])


def test_what_a_file_cannot_say_is_said_beside_it():
    base = replace(find_preset("mario"), planned_updates=20)
    base = replace(base, evaluation=replace(base.evaluation, stop_at=None))
    definition = replace(definition_of(), preset="mario", base=base, space=SPACE)
    settings = best_settings(ROWS[1], definition)
    assert settings["evaluation.stop_at"] is None
    assert beside_the_file(settings) == " --evaluation.stop-at none"
    assert "--config best.toml --evaluation.stop-at none\n" in best_toml("small", definition, ROWS[1], [])
    assert beside_the_file({"seed": 1}) == ""


def test_a_table_has_a_line_for_each_trial(tmp_path):
    folder = folder_in(tmp_path)
    write_results(folder, definition_of(), ROWS, [])
    with folder.trials.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["trial"] for line in lines] == ["0", "1", "2", "3", "4"]
    assert lines[1]["value"] == "3.0" and lines[3]["value"] == "" and lines[3]["cause"] == "the pole\nbroke"
    assert lines[1]["learner.clip"] == "0.11" and json.loads(lines[1]["model.hidden_sizes"]) == [8, 8]


def test_a_summary_says_all_of_it(tmp_path):
    folder = folder_in(tmp_path)
    told = write_results(folder, definition_of(), ROWS, FINALS)
    assert json.loads(folder.summary.read_text()) == json.loads(json.dumps(told))
    assert told["counts"] == {"complete": 2, "pruned": 1, "failed": 1, "running": 1, "waiting": 0}
    assert (told["study"], told["best"], told["decisions_per_trial"], told["seed"]) == ("small", 1, 48, 0)
    assert told["space"]["learner.clip"] == {"low": 0.1, "high": 0.4} and "base" not in told
    assert told["fresh_seeds"][0]["value"] == 2.5 and told["trials"][3]["cause"] == "the pole\nbroke"


def test_where_nothing_is_complete_nothing_is_the_best(tmp_path):
    folder = folder_in(tmp_path)
    told = write_results(folder, definition_of(), ROWS[2:], [])
    assert told["best"] is None and not folder.best.exists()
    assert summarised("small", definition_of(), [], [])["counts"]["complete"] == 0
