from dataclasses import replace

import numpy as np
import pytest
import torch
from small_trainings import train_tiny

from respawn.errors import CheckpointError, ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.episodes import UNFINISHED
from respawn.training.judge import judge
from respawn.training.playback import LOST_FRAMES, Playback
from respawn.training.trained import find_trained, load_run, with_world
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.registry import make_world


def test_steps_tell_all_there_is_to_see(mario_run):
    trained = load_run(mario_run)
    playback = Playback(trained, trained.config)
    steps = list(playback.play(7))
    assert [step.number for step in steps] == list(range(12))
    assert all(step.frames.shape == (4, 240, 256, 3) for step in steps)
    assert all(sum(step.probabilities) == pytest.approx(1.0) and len(step.probabilities) == 7 for step in steps)
    assert all(step.action == int(np.argmax(step.probabilities)) for step in steps)
    assert [step.episode is None for step in steps] == [True] * 11 + [False]
    assert steps[-1].episode.end == "step limit" and steps[-1].aftermath.shape[0] == LOST_FRAMES
    assert sum(step.reward for step in steps) == pytest.approx(steps[-1].episode.episode_return, abs=1e-4)
    assert steps[0].game.level == "1-1" and steps[0].game.x == 40 and steps[0].game.time in (399, 400)
    assert 0 <= playback.waited_frames <= 4
    playback.close()


def test_the_same_episodes_as_are_evaluated(mario_run):
    trained = load_run(mario_run)
    playback = Playback(trained, trained.config, watched=False)
    played = [list(playback.play(seed))[-1].episode for seed in (3, 4, 5)]
    judged = judge(mario_run, EvaluationConfig(episodes=3, num_lanes=3, seed_base=3)).episodes
    assert [episode.facts for episode in played] == [episode.facts for episode in judged]
    returns = [episode.episode_return for episode in judged]
    assert [episode.episode_return for episode in played] == pytest.approx(returns, abs=1e-4)


def test_watching_changes_nothing_and_seeds_decide_all(mario_run):
    trained = load_run(mario_run)
    config = with_world(trained.config, sticky=0.5)
    watched, unwatched = Playback(trained, config), Playback(trained, config, watched=False)

    def story(playback, seed, **options):
        return [(step.action, step.buttons, step.value) for step in playback.play(seed, **options)]

    assert story(watched, 1) == story(unwatched, 1)
    drawn = [story(unwatched, seed, greedy=False) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert not next(unwatched.play(1)).frames.size


def test_the_last_step_names_the_level_it_was_in(mario_run):
    trained = load_run(mario_run)
    # A whole game may end in another than it began in; here it is made up, so that none need be played.
    playback = Playback(trained, trained.config, watched=False)
    last = list(playback.play(7))[-1]
    elsewhere = replace(last.episode, facts={**last.episode.facts, "reached": "1-2"})
    assert playback._game(elsewhere).level == "1-2" and last.game.level == "1-1"


def test_long_episodes_are_left(mario_run):
    trained = load_run(mario_run)
    steps = list(Playback(trained, trained.config).play(1, limit_steps=5))
    assert len(steps) == 5 and steps[-1].episode.end == UNFINISHED and steps[-1].game is not None


def test_other_levels_sticks_and_starts(mario_run):
    trained = load_run(mario_run)
    config = with_world(trained.config, level="4-2", sticky=0.25, start_jitter=0)
    assert config.world == MarioConfig(limit_steps=12, levels=("4-2",), sticky=0.25, start_jitter=0)
    assert with_world(trained.config) == trained.config
    steps = list(Playback(trained, config, watched=False).play(1))
    assert steps[-1].episode.facts["level"] == "4-2"
    with pytest.raises(ConfigError, match="1-1 to 8-4"):
        with_world(trained.config, level="9-1")


def test_any_world_can_be_played(tmp_path):
    train_tiny(RecallConfig(num_cues=3, delay_steps=4), tmp_path, "recall")
    trained = find_trained(tmp_path, "recall")
    with pytest.raises(ConfigError, match="--level and --sticky can be given for the Mario world only"):
        with_world(trained.config, level="1-1", sticky=0.0)
    playback = Playback(trained, trained.config)
    steps = list(playback.play(1))
    assert all(len(step.probabilities) == 3 for step in steps) and steps[-1].episode is not None
    assert all(step.frames.shape[0] == 1 and step.frames.shape[-1] == 3 for step in steps)
    assert (steps[0].frames != steps[-1].frames).any(), "each decision's own picture"
    assert not playback.is_mario and steps[0].buttons is None and steps[0].game is None


def test_a_policy_of_another_world_is_refused(mario_run):
    trained = load_run(mario_run)
    other = make_world(MarioConfig(actions="right"), 1, device=torch.device("cpu"), seed=0)
    with pytest.raises(CheckpointError, match=r"run tiny, checkpoint u00000001 was trained in mario .*num_actions=7"):
        trained.model(other.spec, torch.device("cpu"))
