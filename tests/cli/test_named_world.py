from dataclasses import dataclass
from pathlib import Path

import pytest

from respawn.cli.arguments import RunName
from respawn.cli.named_world import check_shipped, without_world
from respawn.errors import ConfigError


@dataclass(frozen=True)
class Arguments:
    run: RunName
    seed: int = 0
    window: bool = False
    out: str = ""


@pytest.mark.parametrize(
    ("words", "left", "world"),
    [
        ("fish first", "first", "fish"),
        ("mario first --seed 3", "first --seed 3", "mario"),
        ("--seed 3 fish first", "--seed 3 first", "fish"),
        ("fish --seed=3 --window first", "--seed=3 --window first", "fish"),
        ("fish", "fish", None),
        ("--out fish first", "--out fish first", None),
        ("fish --out first", "fish --out first", None),
        ("first fish", "first fish", None),
        ("", "", None),
    ],
)
def test_the_first_of_two_words_names_the_world(words, left, world):
    assert without_world(words.split(), Arguments) == (left.split(), world)


def test_a_world_without_weights_wants_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("respawn.cli.named_world.shipped_names", lambda: ("mario",))
    check_shipped("mario", Path("runs"))
    check_shipped("first", Path("runs"))
    with pytest.raises(
        ConfigError, match=r"a run is wanted after 'fish': no weights .* 'respawn train fish', and name it"
    ):
        check_shipped("fish", Path("runs"))
    (tmp_path / "runs/fish").mkdir(parents=True)
    check_shipped("fish", Path("runs"))
