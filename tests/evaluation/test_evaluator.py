import math

import pytest
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.records import Episode
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.evaluator import Evaluator, summarise
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.observers.slow_steps import STEP_PHASES
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.saveable import freeze

CPU = torch.device("cpu")
NOISY = ModelConfig(hidden_sizes=(8,), core="gru", core_size=8, noisy=True)


KNOBS = Knobs(0, {})


def make_model(seed=0):
    model = build_model(FakeWorld(1).spec, NOISY, seed=seed)
    with torch.no_grad():
        model.policy_head.linear.weight.mul_(100.0)
    return model


def make_evaluator(worlds=None, **settings):
    def make_world(num_lanes):
        world = FakeWorld(num_lanes)
        if worlds is not None:
            worlds.append(world)
        return world

    return Evaluator(make_world, make_model(9), EvaluationConfig(**{"episodes": 7, "num_lanes": 3} | settings), CPU)


def weights_of(model, version=0):
    return Weights(version, {name: tensor.detach().clone() for name, tensor in model.state_dict().items()})


def numbers(report):
    return {name: value for name, value in report.metrics.items() if not name.startswith("time/")}


@pytest.mark.parametrize("greedy", [True, False])
def test_the_same_weights_are_judged_the_same(greedy):
    evaluator = make_evaluator(greedy=greedy)
    weights, others = weights_of(make_model(0)), weights_of(make_model(1))
    first = numbers(evaluator.evaluate(weights, Clock(), KNOBS))
    assert numbers(evaluator.evaluate(others, Clock(), KNOBS)) != first
    assert numbers(evaluator.evaluate(weights, Clock(), KNOBS)) == first
    assert numbers(make_evaluator(greedy=greedy).evaluate(weights, Clock(), KNOBS)) == first


def test_how_many_play_at_a_time_does_not_matter():
    weights = weights_of(make_model())
    played = [make_evaluator(num_lanes=num_lanes).play(weights) for num_lanes in (1, 3, 7, 50)]
    assert all(episodes == played[0] for episodes in played)


def test_judging_touches_nothing_of_the_training():
    model = make_model()
    model.train()
    model.sample_noise(torch.Generator().manual_seed(1))
    noise = freeze({name: buffer.clone() for name, buffer in model.named_buffers()})
    weights = weights_of(model)
    before, dice = freeze(dict(weights.tensors)), torch.default_generator.get_state()
    make_evaluator(greedy=False).evaluate(weights, Clock(), KNOBS)
    assert freeze(dict(weights.tensors)) == before
    assert freeze(dict(model.state_dict())) == before
    assert freeze({name: buffer.clone() for name, buffer in model.named_buffers()}) == noise
    assert model.training
    assert torch.equal(torch.default_generator.get_state(), dice)


def test_noisy_heads_are_judged_without_noise():
    evaluator = make_evaluator()
    evaluator.play(weights_of(make_model()))
    assert not any(buffer.any() for name, buffer in evaluator._model.named_buffers() if "noise" in name)


def test_a_report_says_when():
    report = make_evaluator().evaluate(weights_of(make_model(), 12), Clock(updates=12, decisions=345), KNOBS)
    assert (report.update, report.decisions) == (12, 345)
    assert report.metrics["evaluation/episodes"] == 7.0
    assert report.metrics["time/evaluation_seconds"] > 0.0


def test_one_world_is_made_when_first_needed_and_closed_in_the_end():
    worlds = []
    evaluator = make_evaluator(worlds, episodes=2)
    evaluator.close()
    assert worlds == []
    evaluator.play(weights_of(make_model()))
    evaluator.play(weights_of(make_model()))
    assert [world.spec.num_lanes for world in worlds] == [2]
    evaluator.close()
    evaluator.close()


def test_episodes_are_played_from_the_seeds_named():
    weights = weights_of(make_model())
    long, shifted = make_evaluator(seed_base=100), make_evaluator(seed_base=102, episodes=5)
    outcomes = [(e.episode_return, e.length, e.end) for e in long.play(weights)]
    assert [(e.episode_return, e.length, e.end) for e in shifted.play(weights)] == outcomes[2:]


def test_a_summary_by_hand():
    episodes = [Episode(0, 1.0, 10, "terminated"), Episode(1, 2.0, 20, "time limit"), Episode(2, 6.0, 30, UNFINISHED)]
    assert summarise(episodes) == {
        "evaluation/return_mean": pytest.approx(3.0),
        "evaluation/return_std": pytest.approx(math.sqrt(7.0)),  # (4 + 1 + 9) / 2
        "evaluation/return_min": 1.0,
        "evaluation/return_max": 6.0,
        "evaluation/return_low": pytest.approx(3.0 - 1.96 * math.sqrt(7.0 / 3.0)),
        "evaluation/return_high": pytest.approx(3.0 + 1.96 * math.sqrt(7.0 / 3.0)),
        "evaluation/length_mean": 20.0,
        "evaluation/episodes": 3.0,
        "evaluation/unfinished": 1.0,
    }


def test_episodes_that_are_not_whole_are_counted():
    ends = ["terminated", "time limit", UNFINISHED, "worker lost"]
    assert summarise([Episode(0, 1.0, 1, end) for end in ends])["evaluation/unfinished"] == 2.0


def test_a_single_episode_has_no_spread():
    summary = summarise([Episode(0, 5.0, 3, "terminated")])
    assert summary["evaluation/return_std"] == 0.0
    assert summary["evaluation/return_low"] == summary["evaluation/return_high"] == 5.0


@pytest.mark.parametrize(
    "settings", [{"episodes": 0}, {"num_lanes": 0}, {"limit_steps": 0}, {"every_updates": -1}, {"seed_base": -1}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=f"evaluation.{next(iter(settings)).replace('_', '-')}"):
        EvaluationConfig(**settings)


def test_a_fact_replaces_no_metric_of_ours():
    summary = summarise([Episode(0, 5.0, 3, "flag", {"return_mean": -1.0, "episodes": 7.0, "x": 2.0})])
    assert (summary["evaluation/return_mean"], summary["evaluation/episodes"], summary["evaluation/x"]) == (
        5.0,
        1.0,
        2.0,
    )


def test_what_comes_before_a_first_step_is_no_step():
    """Where the phase were a step's, an environment that takes long to make would be called slow."""
    noted = []

    class Noted:
        def mark(self, phase, share=0.0):
            noted.append(phase)

        def moved(self):
            """Nothing of interest here."""

    class Telling(FakeWorld):
        def __init__(self, num_lanes):
            noted.append("made")
            super().__init__(num_lanes)

        def reset(self, seeds):
            noted.append("reset")
            return super().reset(seeds)

    evaluator = Evaluator(Telling, make_model(9), EvaluationConfig(episodes=2, num_lanes=1), CPU, Noted())
    evaluator.evaluate(weights_of(make_model(0)), Clock(), KNOBS)
    assert [noted[at - 1] for at, each in enumerate(noted) if each in ("made", "reset")] == ["prepare"] * 3
    assert noted[-1] == "evaluate" and "evaluate" in STEP_PHASES and "prepare" not in STEP_PHASES
