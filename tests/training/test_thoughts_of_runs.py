"""Thoughts are those of the very episodes that `respawn play` shows."""

import pytest
from small_trainings import train_tiny

from respawn.errors import ConfigError
from respawn.evaluation.thoughts.steps import thoughts_of
from respawn.training.playback import Playback
from respawn.training.school_playback import SchoolPlayback
from respawn.training.thoughts import ThoughtsOrder, watch_thoughts
from respawn.training.trained import load_run
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig


@pytest.mark.parametrize("greedy", [True, False])
def test_marios_are_those_that_are_played(mario_run, greedy):
    trained = load_run(mario_run)
    watched = watch_thoughts(trained, trained.config, ThoughtsOrder(seed=7, greedy=greedy))
    playback = Playback(trained, trained.config, watched=False)
    steps = list(playback.play(7, greedy=greedy))
    playback.close()
    assert watched.episode == steps[-1].episode
    assert watched.actions.flatten().tolist() == [step.action for step in steps]
    assert watched.values.flatten().tolist() == pytest.approx([step.value for step in steps])
    thoughts = thoughts_of(watched, 0)
    assert thoughts[0].noted["x"] == 40 and thoughts[0].noted["level"] == "1-1"
    # A note is of the moment of the decision, and what is played tells of the moment after it.
    assert [thought.noted["x"] for thought in thoughts[1:]] == [step.game.x for step in steps[:-1]]
    assert {*thoughts[0].probabilities[0]} == {*playback.actions}


@pytest.mark.parametrize("greedy", [True, False])
def test_a_schools_are_those_that_swim(fish_run, greedy):
    trained = load_run(fish_run)
    watched = watch_thoughts(trained, trained.config, ThoughtsOrder(seed=503, greedy=greedy, fish=12))
    steps = list(SchoolPlayback(trained, fish=12).play(503, greedy=greedy))
    assert repr(watched.episode) == repr(steps[-1].episode)  # as text, for a first death that never came is no number
    assert watched.values.shape == (30, 12)
    alive = [int(row.sum()) for row in watched.present]
    assert alive[0] == 12 and alive[1:] == [step.school.alive for step in steps[:-1]]
    # A fish's thoughts end where it does.
    for fish in range(12):
        thoughts = thoughts_of(watched, fish)
        assert len(thoughts) == int(watched.present[:, fish].sum())
        assert [thought.noted["alive"] for thought in thoughts] == alive[: len(thoughts)]


def test_a_fish_that_is_not_in_the_school_cannot_be_followed(fish_run):
    trained = load_run(fish_run)
    with pytest.raises(ConfigError, match=r"--follow names one of the school's fish by its number, 0 to 11, not 12"):
        watch_thoughts(trained, trained.config, ThoughtsOrder(fish=12, follow=12))


def test_other_worlds_say_no_more_than_they_pay(tmp_path):
    for world, name in (
        (RecallConfig(num_cues=3, delay_steps=4), "recall"),
        (ForeignConfig(env_id="Pendulum-v1"), "pendulum"),
    ):
        trained = load_run(train_tiny(world, tmp_path, name))
        watched = watch_thoughts(trained, trained.config, ThoughtsOrder(seed=1, limit_steps=9))
        assert all(not noted for noted in watched.noted) and 0 < watched.episode.length <= 9
        assert bool(thoughts_of(watched, 0)[0].means) == (name == "pendulum"), "numbers have means, choices have none"
