"""What a sweep says."""

from respawn.cli.sweep_telling import Teller, counted
from respawn.presets import find_preset
from respawn.sweeps.definition import Definition
from respawn.sweeps.space import Range
from respawn.sweeps.storage import open_study


def test_things_are_counted_as_people_count_them():
    assert [counted(number, "trial") for number in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]


def test_a_space_of_one_setting_has_one_setting(tmp_path, capsys):
    base = find_preset("cartpole-ppo")
    definition = Definition("cartpole-ppo", base, {"learner.clip": Range(0.1, 0.4)}, "evaluation/return_mean")
    study = open_study(f"journal:{tmp_path / 'journal.log'}", "small", definition)
    Teller(study, definition, 3, to_stderr=False).begin("small")
    assert "over 1 setting, with " in capsys.readouterr().out
