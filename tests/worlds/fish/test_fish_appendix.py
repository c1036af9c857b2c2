"""The reference's own numbers, to 1e-5: Appendix A of the specification."""

import pytest
import torch
from little_schools import put

from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig
from respawn.worlds.fish.physics import steer, swim
from respawn.worlds.fish.predator import fall
from respawn.worlds.fish.starts import describe_pre_roll
from respawn.worlds.fish.world import FishWorld, school_seeds

FORWARD, LEFT, RIGHT, BRAKE, COAST = range(5)

A1_FISH = [  # place, velocity, action -> place, velocity
    ((3, 4), (1, 0), FORWARD, (3.11, 4), (1.1, 0)),
    ((3, 4), (1, 0), LEFT, (3.086602, 4.05), (0.866025, 0.5)),
    ((3, 4), (1, 0), RIGHT, (3.086602, 3.95), (0.866025, -0.5)),
    ((3, 4), (1, 0), BRAKE, (3.09, 4), (0.9, 0)),
    ((3, 4), (1, 0), COAST, (3.1, 4), (1, 0)),
    ((3, 4), (0, 2), FORWARD, (3, 4.2), (0, 2)),
    ((3, 4), (0.005, 0), FORWARD, (3.0105, 4), (0.105, 0)),
    ((3, 4), (0, 0.005), LEFT, (3.000433, 4.00025), (0.00433, 0.0025)),
    ((0, 9.95), (0.5, 1.5), COAST, (0.049504, 9.999877), (0.488843, -0.753658)),
    ((7.05, 7.05), (1.2, 1.6), FORWARD, (7.051372, 7.09071), (-0.894975, -0.506662)),
]
A2_PREDATOR = [
    ((0, 0), (1.5, 0), (0.15, 0.005), (1.5, 0.05)),
    ((0, 9.9), (0.3, 2), (0.029688, 9.999956), (0.288736, -1.744114)),
    ((9.95, 0), (1.5, -0.5), (9.999901, -0.044554), (-1.278654, -0.43762)),
    ((-7, 7.1), (-1, 1), (-7.018977, 7.122778), (0.882567, -0.860408)),
]
PLAIN = FishConfig(
    fish=3,
    neighbours=False,
    escape_boost=False,
    rewards=LEGACY_REWARDS,
    predator_spawn_radius=0.0,
    pre_roll_steps=0,
    headings=(),
    speeds=(),
    generator="numpy",
    limit_truncates=False,
)
V40 = FishConfig(
    fish=3,
    escape_boost_speed=0.8,
    density_penalty=0.05,
    rewards=LEGACY_REWARDS,
    generator="numpy",
    whole_circle=False,
    limit_truncates=False,
)


def near(numbers):
    return pytest.approx(numbers, abs=1e-5, rel=0)


def column(place, velocity):
    return torch.tensor([*place, *velocity], dtype=torch.float32)[:, None]


def begun(config, seed):
    world = FishWorld(config, config.fish)
    return world, world.reset(school_seeds([seed], config.fish))


def check_fish(swarm, places=None, velocities=None):
    if places is not None:
        assert swarm.fish[:2, 0].T.tolist() == [near(place) for place in places]
    if velocities is not None:
        assert swarm.fish[2:, 0].T.tolist() == [near(velocity) for velocity in velocities]


@pytest.mark.parametrize(("place", "velocity", "action", "place_after", "velocity_after"), A1_FISH)
def test_a1_fish(place, velocity, action, place_after, velocity_after):
    x, y, vx, vy = column(place, velocity)
    moved = torch.stack(swim((x, y), steer((vx, vy), torch.tensor([action]))))
    assert moved[:, 0].tolist() == near([*place_after, *velocity_after])


@pytest.mark.parametrize(("place", "velocity", "action", "place_after", "velocity_after"), A1_FISH)
def test_a1_fish_in_a_world(way, place, velocity, action, place_after, velocity_after):
    world, _ = begun(FishConfig(fish=1), 0)
    put(world, [(*place, *velocity)], predator=(-9.0, -3.0, 0.0, 0.0))
    world.step(torch.tensor([action]))
    assert world.swarm.fish[:, 0, 0].tolist() == near([*place_after, *velocity_after])


@pytest.mark.parametrize(("place", "velocity", "place_after", "velocity_after"), A2_PREDATOR)
def test_a2_predator(place, velocity, place_after, velocity_after):
    assert torch.stack(fall(column(place, velocity)))[:, 0].tolist() == near([*place_after, *velocity_after])


@pytest.mark.parametrize(("place", "velocity", "place_after", "velocity_after"), A2_PREDATOR)
def test_a2_predator_in_a_world(way, place, velocity, place_after, velocity_after):
    world, _ = begun(FishConfig(fish=1), 0)
    put(world, [(0.0, -9.0, 0.0, 0.0)], predator=(*place, *velocity))
    world.step(torch.tensor([COAST]))
    assert world.swarm.predator[:, 0].tolist() == near([*place_after, *velocity_after])


def test_a3_a_plain_tank(way):
    world, seen = begun(PLAIN, 0)
    check_fish(
        world.swarm,
        places=[(-1.407243, -1.636429), (2.826987, -6.732607), (-7.201315, -2.024876)],
        velocities=[(0.015983, 0.004208), (-0.57179, -0.453014), (0.001101, -0.002507)],
    )
    first = [-0.140724, -0.163643, 0.007991, 0.002104, 0.784171, 1, 0.422173, 0.490929, 0.75, 0, 0.647488]
    assert seen[0].tolist() == near(first)

    result = world.step(torch.tensor([FORWARD, LEFT, RIGHT]))
    check_fish(
        world.swarm,
        places=[(-1.395974, -1.633462), (2.80012, -6.800428), (-7.201078, -2.025013)],
        velocities=[(0.112687, 0.029669), (-0.268677, -0.678217), (0.002372, -0.001369)],
    )
    assert world.swarm.predator[:2, 0].tolist() == near([0.15, 0.005])
    assert result.reward.tolist() == near([0.875806, 0.7, 0.7])

    result = world.step(torch.tensor([BRAKE, COAST, FORWARD]))
    check_fish(world.swarm, places=[(-1.385832, -1.630792), (2.773252, -6.86825), (-7.190841, -2.02515)])
    assert result.reward.tolist() == near([0.906795, 0.7, 0.7])

    result = world.step(torch.tensor([LEFT, LEFT, LEFT]))
    check_fish(world.swarm, places=[(-1.378384, -1.623409), (2.783895, -6.940419), (-7.181907, -2.02015)])
    assert result.reward.tolist() == near([0.939532, 0.7, 0.7])


def test_a4_the_beginning_of_v40s_tank():
    world, _ = begun(V40, 411232)
    check_fish(
        world.swarm,
        places=[(-6.725589, -1.599618), (2.421446, 1.29711), (1.956621, 5.989816)],
        velocities=[(-1.598929, -0.058543), (0.218779, 1.584972), (0.734743, 1.421321)],
    )
    assert world.swarm.predator[:, 0].tolist() == near([0.721528, 1.978895, 1.054526, 2.581171])
    told = describe_pre_roll(world.births, 0)
    assert told["spawn_radius"] == near(0.229528)
    assert told["spawn_angle_deg"] == pytest.approx(-151.642197, abs=1e-4)  # a millionth of a turn
    assert told["heading_bias_angle"] == near(64.116822)
    assert told["angle_jitter_deg"][:3] == near([-1.867792, -3.108168, 1.016063])
    assert told["speed_scale"][:3] == near([1.434344, 0.60182, 0.982981])
    assert told["speed_target"][:3] == near([2.151515, 1.321529, 1.341723])
    assert told["steps"] == 16 and not told["velocity_override"]


def test_a4_an_episode_of_v40(way):
    world, _ = begun(V40, 411232)
    result = world.step(torch.tensor([FORWARD] * 3))
    check_fish(world.swarm, places=[(-6.895475, -1.605838), (2.444691, 1.465514), (2.034688, 6.140831)])
    assert world.swarm.predator[:2, 0].tolist() == near([0.826981, 2.242012])
    assert result.reward.tolist() == near([0.7, 0.738325, 0.7])

    result = world.step(torch.tensor([LEFT, RIGHT, BRAKE]))
    check_fish(world.swarm, places=[(-7.039491, -1.696168), (2.549024, 1.599733), (2.104948, 6.276745)])
    assert result.reward.tolist() == near([0.7, 0.756594, 0.7])

    result = world.step(torch.tensor([COAST] * 3))
    assert result.reward.tolist() == near([0.7, 0.7779, 0.7])

    for _ in range(4, 101):
        world.step(torch.tensor([COAST] * 3))
    assert world.swarm.steps.tolist() == [100] and int(world.swarm.alive.sum()) == 2
    assert world.swarm.predator[:, 0].tolist() == near([-6.363312, 0.602748, -1.256593, 0.707121])

    for _ in range(101, 501):
        result = world.step(torch.tensor([COAST] * 3))
    schools, last = world.ended
    assert schools == [0] and last.steps.tolist() == [500]
    assert last.predator[:, 0].tolist() == pytest.approx([5.288383, 8.487226, 1.851855, -1.30577], abs=2e-6, rel=0)
    assert last.death_steps[0].tolist() == [492, -1, 21] and last.alive[0].tolist() == [False, True, False]
    assert result.terminated.tolist() == [False, True, False] and not result.truncated.any()


def test_a5_rewards_of_lonely_fish(way):
    world, _ = begun(PLAIN, 0)
    put(world, [(5.0, 0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0), (0.0, 9.6, 0.0, 0.0)], predator=(0.0, 0.0, 0.0, -0.05))
    result = world.step(torch.tensor([COAST] * 3))
    assert world.swarm.predator[:, 0].tolist() == [0.0] * 4
    assert result.reward.tolist() == near([0.70, 0.80, 0.58])


def test_a5_rewards_and_senses_of_a_crowd(way):
    config = FishConfig(fish=4, rewards=LEGACY_REWARDS, density_penalty=0.5, density_target=0.4, divergence_reward=0.2)
    world, _ = begun(config, 0)
    crowd = [(5, 0, 1, 0), (6, 0, 0.5, 0.5), (5, 2, 0, -1), (4, -1, -1, 0)]
    a_step_before = [(x - 0.1 * vx, y - 0.1 * vy, vx, vy) for x, y, vx, vy in crowd]
    put(world, a_step_before, predator=(0.0, 0.0, 0.0, -0.05))
    result = world.step(torch.tensor([COAST] * 4))
    assert world.swarm.fish[:, 0].T.tolist() == [near(list(map(float, fish))) for fish in crowd]
    assert result.reward.tolist() == near([0.69569, 0.691667, 0.698882, 0.70689])
    assert result.observation[0, 11:].tolist() == near([0.5, 0, 0.111111, 0.333333, 0.451184, 0.069036, 0.034518])
    assert result.observation[1, 11:].tolist() == near([0.5, -0.444444, 0.111111, 0.333333, 0.5, 0, -0.166667])
