"""ForeignWorld in this process."""

import gymnasium
import numpy as np
import pytest
import torch

from respawn.collection.actor import Actor
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.suites.world import check_world
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.registry import make_world


def bad(name: str, **settings: object) -> ForeignConfig:
    return ForeignConfig(env_id=f"bad/{name}-v0", imports=("bad_envs",), **settings)


def run_until(world, num_steps, action=1):
    actions = torch.full((world.spec.num_lanes,), action)
    return [world.step(actions) for _ in range(num_steps)][-1]


def test_equals_bare_gymnasium():
    world = ForeignWorld(ForeignConfig(max_episode_steps=20), 2)
    envs = [gymnasium.make("CartPole-v1", max_episode_steps=20) for _ in range(2)]
    seen = world.reset([5, 6])
    assert np.array_equal(seen, np.stack([env.reset(seed=seed)[0] for env, seed in zip(envs, [5, 6], strict=True)]))
    generator = torch.Generator().manual_seed(0)
    num_cut = num_terminated = 0
    for _ in range(300):
        actions = torch.randint(2, (2,), generator=generator)
        result = world.step(actions)
        cuts = []
        for lane, env in enumerate(envs):
            observation, reward, terminated, truncated, _ = env.step(int(actions[lane]))
            assert result.reward[lane] == reward
            assert result.terminated[lane] == terminated
            assert result.truncated[lane] == (truncated and not terminated)
            if terminated or truncated:
                assert np.array_equal(world.final_observations()[lane], observation)
            if truncated and not terminated:
                cuts.append(observation)
            if terminated or truncated:
                observation, _ = env.reset()
            assert np.array_equal(result.observation[lane], observation)
        assert len(result.cut_observations) == len(cuts)
        assert all(np.array_equal(cut, seen) for cut, seen in zip(result.cut_observations, cuts, strict=True))
        num_cut, num_terminated = num_cut + len(cuts), num_terminated + int(result.terminated.sum())
    assert num_cut > 0 and num_terminated > 0


def test_end_reasons():
    world = ForeignWorld(bad("Walker", max_episode_steps=4), 1)
    world.reset([0])
    assert run_until(world, 4).episodes[0].end == "time limit"
    world = ForeignWorld(bad("Walker", max_episode_steps=5), 1)  # both at once: its own end wins
    world.reset([0])
    result = run_until(world, 5)
    assert result.episodes[0].end == "terminated" and not result.truncated.any() and len(result.cut_observations) == 0


def test_unknown_id_is_met_with_close_ones():
    with pytest.raises(ConfigError, match=r"'CartPole-v11'.*close to it are CartPole-v1.*world.imports"):
        ForeignWorld(ForeignConfig(env_id="CartPole-v11"), 1)
    with pytest.raises(ConfigError, match=r"'cartpole'.*CartPole-v1"):
        ForeignWorld(ForeignConfig(env_id="cartpole"), 1)
    with pytest.raises(ConfigError, match=r"'zzzzzz'.*none of the \d+ registered ids"):
        ForeignWorld(ForeignConfig(env_id="zzzzzz"), 1)


def test_an_id_may_name_its_module():
    assert ForeignWorld(ForeignConfig(env_id="bad_envs:bad/Walker-v0"), 1).spec.num_lanes == 1
    with pytest.raises(ConfigError, match="no_such_module"):
        ForeignWorld(ForeignConfig(env_id="no_such_module:Walker-v0"), 1)


def test_what_is_missing_is_named():
    with pytest.raises(ConfigError, match=r"cannot import 'no_such_module'.*mend world.imports"):
        ForeignWorld(ForeignConfig(imports=("no_such_module",)), 1)
    with pytest.raises(ConfigError, match=r"does not take .*colour='red'.*mend world.env-kwargs"):
        ForeignWorld(ForeignConfig(env_kwargs={"colour": "red"}), 1)
    with pytest.raises(ConfigError, match=r"'bad/SpeaksText-v0' has the observation space Sequence"):
        ForeignWorld(bad("SpeaksText"), 1)
    with pytest.raises(ConfigError, match=r"'bad/ActsInDicts-v0' has the action space Dict"):
        ForeignWorld(bad("ActsInDicts"), 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Raises", "failed in step of lane 0: raised ValueError: the pole broke"),
        ("WrongShape", r"failed in step of lane 0: expected .*shape \(2,\).*float32.*got shape \(3,\) .*float64"),
        ("WrongDtype", "failed in step of lane 0: expected .*float32.* got .*<U1"),
    ],
)
def test_failures_are_placed(name, message):
    world = ForeignWorld(bad(name), 2)
    world.reset([0, 1])
    with pytest.raises(WorldError, match=f"'bad/{name}-v0' {message}") as caught:
        run_until(world, 3)
    assert caught.value.__cause__ is not None


def test_wrong_calls_are_named():
    world = ForeignWorld(ForeignConfig(), 2)
    with pytest.raises(WorldError, match="one seed for each of 2 lanes, got 1"):
        world.reset([1])
    world.reset([1, 2])
    with pytest.raises(WorldError, match=r"actions of shape \(2,\), got \(2, 1\)"):
        world.step(torch.zeros(2, 1, dtype=torch.int64))
    with pytest.raises(CheckpointError, match="expected the state of 2 lanes, got 3"):
        world.restore(ForeignWorld(ForeignConfig(), 3).state())
    with pytest.raises(ConfigError, match="at least one lane"):
        ForeignWorld(ForeignConfig(), 0)


def test_kwargs_reach_the_environment():
    world = ForeignWorld(bad("Walker", env_kwargs={"length": 2}), 1)
    world.reset([0])
    assert run_until(world, 2).terminated.all()


def test_without_state_episodes_begin_anew_and_it_is_said():
    events = []
    world = ForeignWorld(bad("Walker"), 2, notify=events.append)
    assert not world.spec.exact_resume
    first = world.reset([0, 1]).clone()
    run_until(world, 3)
    state = world.state()
    world.restore(state)
    assert [event.kind for event in events] == ["episodes_begun_anew"]
    assert world.observe()[:, 1].tolist() == [0, 0]  # no step has been made
    assert not torch.equal(world.observe(), first)  # and it is not the first episode over again
    assert run_until(world, 5).episodes[0].length == 5


@pytest.mark.parametrize("exact_before", [True, False])
def test_an_actor_remembers_only_episodes_that_go_on(exact_before):
    """The environment learned to say its state between saving and restoring, or it no longer can."""

    def make_collector(name, notify=lambda event: None):
        world = ForeignWorld(bad(name), 2, notify=notify)
        world.reset([0, 1])
        model = build_model(world.spec, ModelConfig(hidden_sizes=(8,), core="gru", core_size=8), seed=0)
        actor = Actor(model, 2, make_generator(0))
        weights = Weights(0, {key: tensor.detach().clone() for key, tensor in model.state_dict().items()})
        return SyncCollector(world, actor, horizon_steps=3, device=torch.device("cpu")), actor, weights

    names = ["TellsItsState", "Walker"] if exact_before else ["Walker", "TellsItsState"]
    events = []
    collector, actor, weights = make_collector(names[0])
    collector.start(CollectOrder(weights, Knobs(0, {})))
    collector.finish()
    assert actor.memory["hidden"].any()
    state = collector.state()
    restored, remembers, _ = make_collector(names[1], events.append)
    restored.restore(state)
    assert not remembers.memory["hidden"].any()
    assert [event.kind for event in events] == ["episodes_begun_anew"]
    assert ("cannot" if exact_before else "could not") in events[0].message
    again, remembers, _ = make_collector("TellsItsState")
    again.restore(state)
    assert (
        remembers.memory["hidden"].any() == exact_before
    )  # the same kind as before: nothing is lost if it can be kept


def test_trouble_in_close_is_reported_and_the_other_lanes_are_closed(tmp_path):
    events = []
    flag = tmp_path / "flag"
    world = ForeignWorld(bad("RaisesInClose", env_kwargs={"flag": str(flag)}), 3, notify=events.append)
    world.reset([0, 1, 2])
    world.close()
    world.close()
    assert flag.read_text() == "closed\n" * 3
    assert [(event.kind, event.level, event.facts["problems"]) for event in events] == [("close_failed", "warning", 3)]
    assert "close of lane 0 raised OSError: the display is gone, and 2 more" in events[0].message


def test_the_contract_is_kept_with_and_without_a_state():
    for name, exact in (("Walker", False), ("TellsItsState", True)):
        assert ForeignWorld(bad(name), 1).spec.exact_resume == exact
        config = bad(name)
        check_world(lambda lanes, config=config: make_world(config, lanes, device=torch.device("cpu"), seed=0))


def test_pictures():
    world = ForeignWorld(bad("Draws", render=True), 1)
    world.reset([0])
    run_until(world, 2)
    frame = world.render(0)
    assert frame.shape == (8, 9, 3) and frame.dtype == np.uint8 and (frame == 2).all()
    silent = ForeignWorld(bad("Draws"), 1)
    silent.reset([0])
    with pytest.raises(ConfigError, match="set `render`"):
        silent.render(0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"env_id": " "}, "world.env-id"),
        ({"env_id": "a:b:c/d"}, "world.env-id must look like .*, got 'a:b:c/d'"),
        ({"env_id": ":CartPole-v1"}, "world.env-id must look like"),
        ({"env_id": ".bad_envs:CartPole-v1"}, "world.env-id must look like"),
        ({"env_id": "bad_envs:"}, "world.env-id must look like"),
        ({"env_id": "a/b/c"}, "world.env-id must look like"),
        ({"env_id": "CartPole v1"}, "world.env-id must look like"),
        ({"imports": (".bad_envs",)}, "world.imports"),
        ({"imports": ("",)}, "world.imports"),
        ({"workers": -1}, "world.workers"),
        ({"worker_threads": 0}, "world.worker-threads"),
        ({"max_replacements": -1}, "world.max-replacements"),
        ({"step_seconds": 0.0}, "world.step-seconds"),
        ({"reset_seconds": float("nan")}, "world.reset-seconds"),
        ({"construct_seconds": -1.0}, "world.construct-seconds"),
        ({"stagger_seconds": -1.0}, "world.stagger-seconds"),
        ({"max_episode_steps": 0}, "world.max-episode-steps"),
        ({"frames_per_step": 0}, "world.frames-per-step"),
        ({"env_kwargs": {"desc": ["SF"]}}, "world.env-kwargs"),
    ],
)
def test_config_refuses(wrong, message):
    with pytest.raises(ConfigError, match=message):
        ForeignConfig(**wrong)
