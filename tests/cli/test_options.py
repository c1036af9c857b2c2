from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest
import tyro

from respawn.cli.options import words_of
from respawn.errors import ConfigError


@dataclass(frozen=True)
class Inner:
    learning_rate: float = 0.1
    sizes: tuple[int, ...] = (1, 2)
    pairs: dict[str, bool | int | float | str] = field(default_factory=dict)
    hidden: Annotated[str, tyro.conf.Suppress] = "x"
    threaded: bool = True


@dataclass(frozen=True)
class Outer:
    run: Annotated[str, tyro.conf.Positional]
    updates: int | None = None
    shape: Literal["round", "flat"] = "round"
    place: Path = Path()
    inner: Inner = Inner()


WORDS = words_of("respawn try", Outer, Outer("r"))


@pytest.mark.parametrize(
    "typed",
    [
        "r",
        "r --updates 3 --shape flat",
        "r --updates none --place /a/b",
        "--updates=3 r",
        "r --updates -3",
        "r --inner.sizes 1 2 3 --inner.learning_rate 1e-3",
        "r --inner.sizes",
        "r --inner.sizes 1,2 3, --updates 3",
        "r --inner.pairs a 1 b two",
        "r --inner.no-threaded --inner.threaded",
    ],
)
def test_what_fits_is_let_through(typed):
    WORDS.check(typed.split())


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "'respawn try' wants RUN, and nothing came; see 'respawn try --help'"),
        ("r s", "'respawn try' has no use for the word 's'; leave it out"),
        ("r updates", "'respawn try' has no use for the word 'updates'; did you mean --updates?"),
        ("r --updates abc", "--updates wants a whole number, but 'abc' came; see 'respawn try --help'"),
        ("r --updates 1.5", "--updates wants a whole number, but '1.5' came; see 'respawn try --help'"),
        ("r --updates", "--updates wants a whole number, and nothing came; see 'respawn try --help'"),
        ("r --updates --shape flat", "--updates wants a whole number, and nothing came; see 'respawn try --help'"),
        ("r --shape square", "--shape wants one of round, flat, but 'square' came; see 'respawn try --help'"),
        (
            "r --inner.sizes 1 two",
            "--inner.sizes wants a whole number, or several, but 'two' came; see 'respawn try --help'",
        ),
        (
            "r --inner.sizes 1,two",
            "--inner.sizes wants a whole number, or several, but 'two' came; see 'respawn try --help'",
        ),
        (
            "r --inner.pairs a 1 b",
            "--inner.pairs wants pairs of a name and a value, but 'b' has no value; see 'respawn try --help'",
        ),
        (
            "r --inner.threaded=1",
            "--inner.threaded takes no value, but '1' came; leave it out; see 'respawn try --help'",
        ),
        (
            "r --iner.sizes 1",
            "there is no option --iner.sizes for 'respawn try'; did you mean --inner.sizes? "
            "'respawn try --help' lists all",
        ),
        (
            "r --learning-rate 1",
            "there is no option --learning-rate for 'respawn try'; did you mean --inner.learning-rate? "
            "'respawn try --help' lists all",
        ),
        ("r --inner.hidden x", "there is no option --inner.hidden for 'respawn try'; 'respawn try --help' lists all"),
        ("r -x", "there is no option -x for 'respawn try'; 'respawn try --help' lists all"),
    ],
)
def test_what_does_not_fit_is_answered_in_one_sentence(typed, sentence):
    with pytest.raises(ConfigError) as caught:
        WORDS.check(typed.split())
    assert str(caught.value) == sentence
