import pytest
import torch

from bench_cases import measure_here
from respawn.contracts.world import ContinuousActions, DiscreteActions, MultiDiscreteActions
from respawn.training.bench_world import WorldCase, WorldPlan, measure_worlds, random_actions
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _as_many_threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_lanes_are_stepped_and_beginnings_are_among_it():
    case = WorldCase(ForeignConfig(env_id="CartPole-v1"), 3, 0.02, "cpu")
    turn = case.turn()
    case.close()
    assert turn["decisions"] >= 3 and turn["decisions"] % 3 == 0 and turn["frames"] == turn["decisions"]
    assert turn["seconds"] >= 0.02 and turn["others_cores"] >= 0


def test_only_those_that_are_there_count():
    case = WorldCase(FishConfig(fish=5), 20, 1e-6, "cpu")
    assert 0 < case.turn()["decisions"] <= 20
    case.close()


@pytest.mark.parametrize(
    ("spec", "shape"),
    [(DiscreteActions(4), (64, 6)), (ContinuousActions(2), (64, 6, 2)), (MultiDiscreteActions((3, 5)), (64, 6, 2))],
)
def test_actions_are_the_same_every_time_and_fit(spec, shape):
    actions = random_actions(spec, 6, CPU)
    assert actions.shape == shape and torch.equal(actions, random_actions(spec, 6, CPU))
    if isinstance(spec, MultiDiscreteActions):
        assert actions[..., 0].max() == 2 and actions[..., 1].max() == 4
    elif isinstance(spec, DiscreteActions):
        assert actions.unique().tolist() == [0, 1, 2, 3]
    else:
        assert actions.abs().max() <= 1 and actions.min() < -0.9


def test_rows_are_by_lanes_and_one_that_cannot_be_made_has_its_error(monkeypatch):
    measure_here(monkeypatch)
    worlds = {"pole": ForeignConfig(env_id="CartPole-v1"), "none": ForeignConfig(env_id="NoSuchThing-v0")}
    kept = []
    rows = measure_worlds("both", worlds, WorldPlan((1, 2), repeats=2, seconds=1e-6), keep=kept.append)
    assert [(row["mode"], row["num_envs"]) for row in rows] == [("pole", 1), ("none", 1), ("pole", 2), ("none", 2)]
    assert rows[0]["steps_per_sec_mean"] > 0 and rows[0]["of"] == "both"
    assert "NoSuchThing" in rows[1]["error"] and rows[1]["steps_per_sec_mean"] is None
    # Other worlds do other things in a step.
    assert all(row["ratio"] is None for row in rows) and kept[-1] == rows
