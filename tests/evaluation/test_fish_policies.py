"""What fish reach that have learned nothing: the reference's own numbers, within their error."""

import pytest
import torch

from respawn.evaluation.fish_evaluator import play_null_policies
from respawn.evaluation.fish_policies import EVADER, EvaderPolicy, null_policies
from respawn.worlds.fish.config import FishConfig

FORWARD, LEFT, RIGHT, BRAKE, COAST = range(5)
SCHOOLS = 40
REFERENCE = {  # survival; dead before step 100
    "coast": (0.746, 0.092),
    "random": (0.741, 0.099),
    "forward": (0.529, 0.112),
    "brake": (0.833, 0.090),
    "turn_left": (0.838, 0.112),
    "turn_right": (0.834, 0.116),
}


@pytest.fixture(scope="module")
def found():
    config = FishConfig().as_judged(96)
    return play_null_policies(config, range(1_000_000, 1_000_000 + SCHOOLS), None, torch.device("cpu"))


def test_all_have_their_names(found):
    assert set(found) == set(null_policies()) == {*REFERENCE, EVADER}


@pytest.mark.parametrize("name", REFERENCE)
def test_what_needs_no_learning_reaches_what_it_did(found, name):
    survival, early = REFERENCE[name]
    numbers = found[name]
    error = numbers["survival_std"] * (1 / SCHOOLS + 1 / 100) ** 0.5  # theirs was measured on 100 schools
    assert numbers["survival_mean"] == pytest.approx(survival, abs=3 * error) and error < 0.02
    assert numbers["early_death_100"] == pytest.approx(early, abs=0.025)
    assert numbers["step_one_ratio"] == pytest.approx(0.018, abs=0.006)


def test_the_evader_nearly_reaches_the_ceiling(found):
    numbers = found[EVADER]
    assert numbers["survival_mean"] >= 0.975 and numbers["survival_worst"] >= 0.88
    assert numbers["death_p10"] == 500.0 and numbers["early_death_100"] <= 0.025
    assert 0.0 <= numbers["survival_gap"] < 0.01


def test_none_can_do_better_than_the_doomed_allow(found):
    assert len({numbers["doomed_fraction"] for numbers in found.values()}) == 1  # it is a matter of seeds alone
    for numbers in found.values():
        assert numbers["survival_mean"] <= 1.0 - numbers["doomed_fraction"]
        assert numbers["step_one_ratio"] >= numbers["doomed_fraction"]


def seen(place, velocity, predator=None):
    """What a fish senses: itself and, if it sees one, a predator (x, y, vx, vy)."""
    x, y = place
    own = [x / 10, y / 10, velocity[0] / 2, velocity[1] / 2, 0.0]
    if predator is None:
        return torch.tensor([[*own, *[0.0] * 6]])
    dx, dy = predator[0] - x, predator[1] - y
    reach = 10 / 3
    far = (dx * dx + dy * dy) ** 0.5
    return torch.tensor([[*own, 1.0, dx / reach, dy / reach, predator[2] / 2, predator[3] / 2, far / reach]])


@pytest.mark.parametrize(
    ("observation", "action"),
    [
        pytest.param(seen((0, 0), (0, -1)), FORWARD, id="on its way home"),
        pytest.param(seen((0, 0), (1, 0)), RIGHT, id="home is to the right"),
        pytest.param(seen((0, 0), (-1, 0)), LEFT, id="home is to the left"),
        pytest.param(seen((0, -8.5), (0, -1)), BRAKE, id="at home"),
        pytest.param(seen((0, -8.5), (0, -1), (0, -7.0, 0.0, 0.0)), FORWARD, id="at home and not alone"),
        pytest.param(seen((0, 0), (0, -1), (0, -3.0, 0.0, 0.0)), FORWARD, id="a predator that is far enough"),
        pytest.param(seen((0, 0), (0, 1), (0, -1.5, 0.0, 0.0)), FORWARD, id="straight away from it"),
        pytest.param(seen((0, 0), (0, 0), (-1.5, 0, 0.0, 0.0)), FORWARD, id="a resting fish faces right"),
        pytest.param(seen((0.1, 0), (0, 1), (0, -1.5, 0.0, 2.0)), RIGHT, id="out of its way, on the nearer side"),
        pytest.param(seen((-0.1, 0), (0, 1), (0, -1.5, 0.0, 2.0)), LEFT, id="and on the other"),
    ],
)
def test_the_evaders_rule(observation, action):
    assert EvaderPolicy().act(observation, {}, None).actions.tolist() == [action]
