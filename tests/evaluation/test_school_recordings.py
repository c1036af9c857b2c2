import pytest
import torch

from respawn.evaluation.fish_policies import null_policies
from respawn.evaluation.school_recordings import record_schools
from respawn.evaluation.schools import play_schools
from respawn.maths.seeding import make_generator
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld

CPU = torch.device("cpu")
SEEDS = range(70, 75)
FISH = 16


def tanks(num_schools=2):
    config = FishConfig(limit_steps=80, neighbours=False).as_judged(FISH)
    return FishWorld(config, num_schools * FISH)


def dice(name):
    return make_generator(1, "dice", device=CPU) if name == "random" else None


@pytest.mark.parametrize("name", ["brake", "random"])
def test_recordings_are_what_was_played_in_the_order_wanted(name):
    policy = null_policies()[name]
    played = play_schools(tanks(), policy, SEEDS, dice(name), CPU)
    world = tanks()
    for _ in range(2):  # a world that has played before plays the same
        first, second = record_schools(world, policy, SEEDS, [4, 1], dice(name), CPU)
        assert (first.record.seed, second.record.seed) == (74, 71)
        # As text, for the first death of a school that has none is not a number, and as such equal to none.
        assert repr(first.record) == repr(played[4]) and repr(second.record) == repr(played[1])
    assert any(step > 1 for step in (*first.record.death_steps, *second.record.death_steps)), "else it shows nothing"


def test_every_moment_is_kept_and_stays_as_it_was():
    (recording,) = record_schools(tanks(), null_policies()["brake"], SEEDS, [3], None, CPU)
    moments, record = recording.moments, recording.record
    assert [int(moment.steps[0]) for moment in moments] == list(range(record.episode.length + 1))
    assert moments[0].alive.all() and moments[0].fish.shape == (4, 1, FISH)
    assert moments[0].predator[:2, 0].tolist() == record.start["predator_position"]
    assert tuple(moments[-1].death_steps[0].tolist()) == record.death_steps
    for step, moment in enumerate(moments):
        assert int(moment.alive.sum()) == sum(death < 0 or death > step for death in record.death_steps)


def test_a_school_that_ends_early_is_not_followed_into_its_next_episode():
    config = FishConfig(limit_steps=800, neighbours=False).as_judged(1)
    policy = null_policies()["brake"]
    seeds = range(60)
    records = play_schools(FishWorld(config, len(seeds)), policy, seeds, None, CPU)
    early = min(range(len(records)), key=lambda place: records[place].episode.length)
    assert records[early].episode.end == "everyone caught" and records[early].episode.length < 400
    (recording,) = record_schools(FishWorld(config, len(seeds)), policy, seeds, [early], None, CPU)
    assert len(recording.moments) == records[early].episode.length + 1
    assert not recording.moments[-1].alive.any()


@pytest.mark.parametrize(("name", "batches"), [("brake", [2]), ("random", [0, 2, 4])])
def test_batches_that_nobody_wants_are_played_only_for_their_dice(monkeypatch, name, batches):
    from respawn.evaluation import school_recordings

    played = []

    def noting(world, policy, seeds, *rest):
        played.append(seeds[0] - SEEDS[0])
        return play_schools(world, policy, seeds, *rest)

    monkeypatch.setattr(school_recordings, "play_schools", noting)
    record_schools(tanks(), null_policies()[name], SEEDS, [2], dice(name), CPU)
    assert played == batches
