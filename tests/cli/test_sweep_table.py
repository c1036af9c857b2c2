"""Tables of trials: real names and values, and windows of any width."""

import pytest

from respawn.cli.sweep_table import show_best
from respawn.presets import find_preset
from respawn.sweeps.definition import Definition
from respawn.sweeps.finals import Final
from respawn.sweeps.rows import TrialRow
from respawn.sweeps.space import Choice, Range

SPACE = {
    "learner.optimizer.learning_rate": Range(0.0002, 0.005, log=True),
    "learner.optimizer.gradient_norm": Range(0.2, 2.0),
    "learner.entropy_cost": Range(0.004, 0.1, log=True),
    "learner.trace_decay": Range(0.8, 1.0),
    "learner.discount": Range(0.9, 0.999),
    "learner.clip": Range(0.1, 0.4),
    "collection.horizon_steps": Choice((32, 64)),
    "model.hidden_sizes": Choice(([64, 64], [128, 128, 128])),
}
NAMES = [
    "learning rate", "gradient norm", "entropy cost", "trace decay", "discount", "clip",
    "horizon steps", "hidden sizes",
]  # fmt: skip
DRAWN = dict(zip(SPACE, [0.000428, 1.234, 0.0246, 0.957, 0.9123, 0.206, 32, [128, 128, 128]], strict=True))
SHOWN = ["0.000428", "1.23", "0.0246", "0.957", "0.912", "0.206", "32", "128x128x128"]


@pytest.fixture
def lines(capsys, monkeypatch):
    def show(width, trials=12, space=SPACE):
        monkeypatch.setenv("COLUMNS", str(width))
        definition = Definition("cartpole-ppo", find_preset("cartpole-ppo"), space, "evaluation/return_mean")
        settings = {name: DRAWN[name] for name in space}
        ranked = [
            TrialRow(n, "complete", 443.8, "", 20, 51_200, 1.0, "", "", "", settings, ())
            for n in range(20, 20 + trials)
        ]
        show_best(ranked, definition, [Final(20, "", "", "", 496.8, 100, 5_000_000)])
        said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert max(map(len, said)) <= width
        return said

    return show


def cells(line):
    return line.split("   ")


def test_where_there_is_room_each_trial_is_a_line(lines):
    said = lines(170, trials=2)
    assert [cell.strip() for cell in said[0].split("  ") if cell.strip()] == [
        "trial", "return_mean", "fresh seeds", "decisions", *NAMES,
    ]  # fmt: skip
    assert said[2].split() == ["20", "443.8", "496.8", "51,200", *SHOWN]
    assert said[3].split() == ["21", "443.8", "51,200", *SHOWN] and len(said) == 4


def test_headings_are_wrapped_between_words_before_anything_else(lines):
    said = lines(140)
    assert said[1].split()[:3] == ["trial", "return_mean", "seeds"] and said[0].split()[:2] == ["fresh", "learning"]
    assert said[3].split() == ["20", "443.8", "496.8", "51,200", *SHOWN]
    assert said[-1] == "These are the best 10 of 12 complete trials; --json tells all."


def test_where_there_is_little_room_each_trial_is_a_column_and_nothing_is_broken(lines):
    said = lines(80)
    assert said[0].split() == ["trial", "20", "21", "22", "23"]
    assert said[2].split() == ["return_mean", *["443.8"] * 4] and said[3].split() == ["fresh", "seeds", "496.8"]
    assert [line.split("  ")[0] for line in said[5:13]] == NAMES
    for line, name, value in zip(said[5:13], NAMES, SHOWN, strict=True):
        assert line.removeprefix(name).split() == [value] * 4
    assert " ".join(said[13:]) == (
        "These are the best 4 of 12 complete trials; --json tells all, and a wider window shows more."
    )


def test_the_best_is_shown_in_any_room(lines):
    said = lines(26)
    assert said[0].split() == ["trial", "20"]
    assert "This is the best of 12 complete trials; --json tells all" in " ".join(said)
    assert lines(18)[0].split()[-1] == "20"


def test_few_settings_are_a_line_in_eighty_columns(lines):
    said = lines(80, space={name: SPACE[name] for name in ("learner.clip", "model.hidden_sizes")})
    assert said[2].split() == ["20", "443.8", "496.8", "51,200", "0.206", "128x128x128"]
