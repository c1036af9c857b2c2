"""That the suite for worlds catches what it is there to catch."""

import dataclasses

import pytest
import torch

from respawn.contracts.records import Episode
from respawn.errors import WorldError
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.saveable import check_saveable, freeze
from respawn.testing.suites.world import check_world, draw_actions


class Altered(FakeWorld):
    """A FakeWorld whose results are altered in one way."""

    def alter(self, result):
        return result

    def step(self, actions):
        return self.alter(super().step(actions))


class WrongLength(Altered):
    def alter(self, result):
        longer = tuple(dataclasses.replace(episode, length=episode.length + 1) for episode in result.episodes)
        return dataclasses.replace(result, episodes=longer)


class WrongReturn(Altered):
    def alter(self, result):
        return dataclasses.replace(result, reward=result.reward + 0.1)


class BothEnds(Altered):
    def alter(self, result):
        return dataclasses.replace(result, terminated=result.terminated | result.truncated)


class NoCuts(Altered):
    def alter(self, result):
        return dataclasses.replace(result, cut_observations=result.cut_observations[:0])


class NoRecord(Altered):
    def alter(self, result):
        return dataclasses.replace(result, episodes=())


class WrongDtype(Altered):
    def alter(self, result):
        return dataclasses.replace(result, reward=result.reward.double())


class ShowsAnother(Altered):
    def alter(self, result):
        return dataclasses.replace(result, observation=result.observation + 1)


class ForgetsSteps(FakeWorld):
    def state(self):
        return {**super().state(), "steps": torch.zeros(self.spec.num_lanes, dtype=torch.int64)}


class GivesItsOwn(FakeWorld):
    def state(self):
        return {**super().state(), "place": self._place}

    def step(self, actions):
        place = self._place
        result = super().step(actions)
        place.copy_(self._place)
        self._place = place
        return dataclasses.replace(result, observation=place)


class OneStream(FakeWorld):
    def reset(self, seeds):
        return super().reset([sum(seeds) + lane for lane in range(len(seeds))])


class IgnoresSeeds(FakeWorld):
    def reset(self, seeds):
        return super().reset([0] * len(seeds))


class TellsTooLate(Altered):
    def alter(self, result):
        told = tuple(dataclasses.replace(episode, facts={"far": 1.0}) for episode in result.episodes)
        return dataclasses.replace(result, episodes=told)


class WrongPicture(FakeWorld):
    def render(self, lane):
        return super().render(lane).astype("float32")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (WrongLength, "steps were made"),
        (WrongReturn, "the rewards add up to"),
        (BothEnds, "terminated and truncated in the same step"),
        (NoCuts, "truncated lanes ask for"),
        (NoRecord, "episodes were recorded for lanes"),
        (WrongDtype, "reward is torch.float64"),
        (ShowsAnother, r"observe\(\) and step\(\) show different"),
        (ForgetsSteps, "restored"),
        (GivesItsOwn, "return clones"),
        (OneStream, "changed what lane 0 saw"),
        (IgnoresSeeds, "different seeds led the same way"),
        (TellsTooLate, "an episode that ended says"),
        (WrongPicture, "not uint8"),
    ],
)
def test_a_broken_world_is_caught(kind, message):
    with pytest.raises(AssertionError, match=message):
        check_world(kind, num_steps=40)


class Counter:
    def __init__(self):
        self.values = [0]

    def state(self):
        return {"values": list(self.values)}

    def restore(self, state):
        self.values = list(state["values"])

    def advance(self):
        self.values[0] += 1


class Sharing(Counter):
    def state(self):
        return {"values": self.values}


class Keeping(Counter):
    def restore(self, state):
        self.values = state["values"]


class Forgetful(Counter):
    def restore(self, state):
        self.values = [0]


class Odd(Counter):
    def state(self):
        return {"values": (1, 2)}


def test_saveable_suite():
    check_saveable(Counter, Counter.advance, lambda part: freeze(part.values))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Sharing, "return clones"),
        (Keeping, "copy what it takes"),
        (Forgetful, "not where it had been"),
        (Odd, "is a <class 'tuple'>"),
    ],
)
def test_a_broken_part_is_caught(kind, message):
    with pytest.raises(AssertionError, match=message):
        check_saveable(kind, Counter.advance, lambda part: freeze(part.values))


def test_fake_world_ends_both_ways_and_has_its_options():
    world = FakeWorld(8, with_absences=True, fail_at_step=200)
    world.reset(range(8))
    generator = torch.Generator().manual_seed(0)
    ends: list[Episode] = []
    invalid = 0
    for _ in range(199):
        result = world.step(draw_actions(world.spec, generator))
        ends += result.episodes
        invalid += int((~result.valid).sum())
    assert {episode.end for episode in ends} == {"terminated", "time limit"}
    assert len({episode.length for episode in ends}) > 4 and invalid > 10
    with pytest.raises(WorldError, match="fails at step 200"):
        world.step(draw_actions(world.spec, generator))
