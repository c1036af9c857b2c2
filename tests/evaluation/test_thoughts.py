"""What is kept of a policy's thoughts while it plays, and what they come to."""

import csv
import io
import math
from dataclasses import replace

import pytest
import torch

from respawn.contracts.records import Episode
from respawn.contracts.world import ContinuousActions, DiscreteActions, MultiDiscreteActions
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.thoughts.notes import NoNotes
from respawn.evaluation.thoughts.steps import as_csv, thoughts_of
from respawn.evaluation.thoughts.summary import summarise
from respawn.evaluation.thoughts.watching import Watched, watch
from respawn.maths.distributions import distribution_for
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fakes import FakeWorld

DISCOUNT = 0.9


class Remembering(FakeWorld):
    """Keeps what was seen and what came of it."""

    def __init__(self, **settings):
        super().__init__(1, **settings)
        self.seen, self.results = [], []

    def reset(self, seeds):
        self.seen, self.results = [super().reset(seeds).clone()], []
        return self.seen[0]

    def step(self, actions):
        result = super().step(actions)
        self.seen.append(result.observation.clone())
        self.results.append(result)
        return result


class OfTwoChoices(Remembering):
    @property
    def spec(self):
        return replace(super().spec, actions=MultiDiscreteActions((3, 2)))

    def step(self, actions):
        return super().step(actions[:, 0])


class OftenAlone(Remembering):
    """Nobody is there in steps 2 and 3."""

    def _present(self):
        return (self._steps != 2) & (self._steps != 3)


def make_model(world, **settings):
    model = build_model(world.spec, ModelConfig(hidden_sizes=(8,), **settings), seed=3).eval()
    with torch.no_grad():
        model.policy_head.linear.weight *= 200  # else it would think the same in every step
    return model


def play(world, model, seed, *, greedy=True, limit_steps=100):
    generator = None if greedy else make_generator(seed, "test")
    return watch(world, model, [seed], generator, limit_steps=limit_steps, discount=DISCOUNT, notes=NoNotes())


def seed_that(world, ends):
    """The first seed whose episode ends in this way."""
    model = make_model(world)
    return next(seed for seed in range(100) if play(world, model, seed).episode.end == ends)


def test_an_episode_is_watched_from_its_first_step_to_its_end():
    world = Remembering()
    watched = play(world, make_model(world), 5)
    length = watched.episode.length
    assert watched.parameters.shape == (length, 1, 3) and watched.actions.shape == (length, 1)
    assert watched.present.all() and len(watched.noted) == length
    assert float(watched.rewards.sum()) == pytest.approx(watched.episode.episode_return, abs=1e-5)
    assert torch.equal(watched.actions, watched.parameters.argmax(-1)), "the likeliest"
    assert torch.allclose(watched.entropy, torch.distributions.Categorical(logits=watched.parameters).entropy())


@pytest.mark.parametrize("core", ["none", "gru", "lstm"])
def test_thoughts_are_those_that_learning_would_find_memory_included(core):
    world = Remembering()
    model = make_model(world, core=core, core_size=4)
    watched = play(world, model, 5, greedy=False)
    length = watched.episode.length
    assert length > 4
    starts = torch.zeros(length, 1, dtype=torch.bool)
    starts[0] = True
    unrolled = model.unroll(
        torch.stack(world.seen[:length]),
        model.initial_memory(1),
        starts,
        torch.zeros(0, 2, dtype=torch.int64),
        torch.zeros(0, 4),
    )
    assert torch.allclose(watched.parameters, unrolled.parameters, atol=1e-5)
    assert torch.allclose(watched.values, unrolled.values, atol=1e-5)


def test_what_followed_an_end_is_what_was_paid():
    world = Remembering()
    watched = play(world, make_model(world), seed_that(world, "terminated"))
    rewards = watched.rewards[:, 0].tolist()
    by_hand = [
        sum(reward * DISCOUNT**ahead for ahead, reward in enumerate(rewards[step:])) for step in range(len(rewards))
    ]
    assert watched.followed[:, 0].tolist() == pytest.approx(by_hand, abs=1e-5) and not watched.is_cut


@pytest.mark.parametrize("core", ["none", "gru"])
def test_behind_a_cut_the_policy_is_asked_what_it_expects(core):
    world = Remembering()
    model = make_model(world, core=core, core_size=4)
    ends = ((seed, play(world, model, seed)) for seed in range(100))
    watched = next(watched for _, watched in ends if watched.episode.end == "time limit")
    memory = model.initial_memory(1)
    for seen in world.seen[:-1]:
        memory = model.act(seen, memory, None).memory
    expected = float(model.act(world.results[-1].cut_observations, memory, None).values[0])
    last = float(watched.rewards[-1, 0]) + DISCOUNT * expected
    assert float(watched.followed[-1, 0]) == pytest.approx(last, abs=1e-5) and watched.is_cut


def test_an_episode_that_is_left_is_unfinished_and_valued_where_it_was_left():
    world = Remembering()
    model = make_model(world)
    watched = play(world, model, 5, limit_steps=3)
    assert (watched.episode.end, watched.episode.length, len(watched.values)) == (UNFINISHED, 3, 3)
    expected = float(model.act(world.seen[3], {}, None).values[0])
    assert float(watched.followed[2, 0]) == pytest.approx(float(watched.rewards[2, 0]) + DISCOUNT * expected, abs=1e-5)
    assert watched.is_cut and watched.episode.episode_return == pytest.approx(float(watched.rewards.sum()))


def test_seeds_decide_drawn_actions():
    world = Remembering()
    model = make_model(world)
    first, again, other = (play(world, model, seed, greedy=False).actions.flatten().tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_steps_in_which_nobody_is_there_are_no_decisions():
    world = OftenAlone()
    watched = play(world, make_model(world), 5)
    length = watched.episode.length
    assert length > 4 and [thought.step for thought in thoughts_of(watched, 0)] == [0, 1, *range(4, length)]
    assert summarise(watched)["decisions"] == length - 2


def test_a_thought_says_what_was_likely_by_its_name():
    world = Remembering()
    watched = replace(play(world, make_model(world), 5, greedy=False), action_names=("left", "stay", "right"))
    for step, thought in enumerate(thoughts_of(watched, 0)):
        (chances,) = thought.probabilities
        assert list(chances) == ["left", "stay", "right"] and sum(chances.values()) == pytest.approx(1.0)
        assert thought.actions == (["left", "stay", "right"][int(watched.actions[step, 0])],)
        ((first, chance), *_) = thought.likeliest(2)[0]
        assert chance == max(chances.values()) == chances[first] and len(thought.likeliest(2)[0]) == 2
        assert thought.entropy_share == pytest.approx(thought.entropy / math.log(3))
        assert thought.as_data()["probabilities"] == chances and thought.as_data()["action"] == thought.actions[0]


def test_several_choices_are_told_one_by_one():
    world = OfTwoChoices()
    watched = play(world, make_model(world), 5, greedy=False)
    thought = thoughts_of(watched, 0)[0]
    assert [len(choice) for choice in thought.probabilities] == [3, 2] and len(thought.actions) == 2
    assert thought.as_data()["action"] == list(thought.actions)
    summary = summarise(watched)
    assert summary["entropy_greatest"] == pytest.approx(math.log(6))
    assert [sum(choice.values()) for choice in summary["actions"]] == pytest.approx([1.0, 1.0])
    (first, *_) = csv.DictReader(io.StringIO(as_csv(thoughts_of(watched, 0))))
    assert {"action_0", "action_1", "p_0_2", "p_1_1"} <= set(first)
    assert float(first["p_1_0"]) + float(first["p_1_1"]) == pytest.approx(1.0)


def made_up(spec, parameters, actions, values=(0.0,), followed=(0.0,)):
    """An episode of one lane by hand."""
    parameters, actions = torch.tensor(parameters)[:, None], torch.tensor(actions)[:, None]
    family = distribution_for(spec)
    shaped = [torch.tensor(numbers, dtype=torch.float32)[:, None] for numbers in (values, followed)]
    return Watched(
        actions_spec=spec,
        action_names=(),
        parameters=parameters,
        actions=actions,
        likeliest=family.mode(parameters),
        entropy=family.entropy(parameters),
        values=shaped[0],
        rewards=torch.zeros(len(parameters), 1),
        followed=shaped[1],
        present=torch.ones(len(parameters), 1, dtype=torch.bool),
        noted=tuple({"x": step} for step in range(len(parameters))),
        episode=Episode(0, 0.0, len(parameters), "terminated"),
        is_cut=False,
    )


def test_a_summary_by_hand():
    sure, torn = [math.log(0.95), math.log(0.05)], [0.0, 0.0]
    watched = made_up(
        DiscreteActions(2),
        [sure, sure, sure, torn],
        [0, 0, 1, 0],
        values=(1.0, 2.0, 3.0, 6.0),
        followed=(2.0, 4.0, 6.0, 12.0),
    )
    summary = summarise(watched)
    assert summary["sure_share"] == 0.75 and summary["likeliest_taken"] == 0.75
    assert summary["actions"] == [{"0": 0.75, "1": 0.25}]
    assert summary["entropy_max"] == pytest.approx(math.log(2)) == summary["entropy_greatest"]
    assert summary["entropy_share"] == pytest.approx(summary["entropy_mean"] / math.log(2))
    assert (summary["value_mean"], summary["followed_mean"]) == (3.0, 6.0)
    # The value is always half of what followed: it rises and falls with it, and misses half of each rise.
    assert summary["value_correlation"] == pytest.approx(1.0)
    assert summary["value_explained_variance"] == pytest.approx(0.75)


def test_what_cannot_be_said_is_none():
    flat = summarise(made_up(DiscreteActions(2), [[0.0, 1.0]] * 3, [1, 1, 1], (1.0, 1.0, 1.0), (0.0, 1.0, 2.0)))
    assert flat["value_correlation"] is None and flat["value_explained_variance"] == 0.0
    still = summarise(made_up(DiscreteActions(2), [[0.0, 1.0]] * 3, [1, 1, 1], (0.0, 1.0, 2.0), (1.0, 1.0, 1.0)))
    assert still["value_correlation"] is None and still["value_explained_variance"] is None
    single = summarise(made_up(DiscreteActions(2), [[0.0, 1.0]], [1]))
    assert single["value_correlation"] is None and single["decisions"] == 1


def test_numbers_have_means_and_spreads_and_no_greatest_entropy():
    spec = ContinuousActions(2)
    parameters = [[0.5, -0.5, 0.0, math.log(0.1)], [0.7, -0.5, 0.0, math.log(0.3)]]
    watched = made_up(spec, parameters, [[0.5, -0.5], [1.5, -0.4]], (1.0, 2.0), (1.0, 3.0))
    first, second = thoughts_of(watched, 0)
    assert first.means == pytest.approx((0.5, -0.5)) and second.spreads == pytest.approx((1.0, 0.3))
    assert first.probabilities == () and first.entropy_share is None and first.likeliest(3) == ()
    said = second.as_data()
    assert said["action"] == pytest.approx([1.5, -0.4]) and said["x"] == 1 and "probabilities" not in said
    summary = summarise(watched)
    assert summary["entropy_greatest"] is None and summary["entropy_share"] is None and "sure_share" not in summary
    assert [number["clipped"] for number in summary["numbers"]] == [0.5, 0.0]
    assert summary["numbers"][0]["mean"] == pytest.approx(1.0) and summary["numbers"][0]["std"] == pytest.approx(0.5)
    assert summary["numbers"][1]["spread"] == pytest.approx(0.2)
    rows = list(csv.DictReader(io.StringIO(as_csv([first, second]))))
    assert float(rows[1]["mean_0"]) == pytest.approx(0.7) and float(rows[0]["spread_1"]) == pytest.approx(0.1)
    assert [row["x"] for row in rows] == ["0", "1"]
