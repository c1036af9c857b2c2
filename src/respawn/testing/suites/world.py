"""What every World must pass. For worlds of others too: call `check_world` from a test of your own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs
from respawn.contracts.world import ContinuousActions, DiscreteActions, StepResult, World, WorldSpec
from respawn.errors import RespawnError
from respawn.testing.suites.saveable import check_plain, freeze

MakeWorld = Callable[[int], World]


def check_world(
    make: MakeWorld, *, num_steps: int = 250, is_random: bool = True, lanes_are_independent: bool = True
) -> None:
    """Check a world against its contract; raises AssertionError with a sentence that says what is wrong.

    Args:
      make: A new world with that many lanes.
      num_steps: How long to walk; enough for several episodes to end.
      is_random: Whether different seeds must lead to different observations.
      lanes_are_independent: Whether what happens in a lane must follow from its own seed and actions alone.
    """
    check_spec(make)
    check_contract(make, num_steps)
    check_seeds(make, num_steps, is_random=is_random)
    if lanes_are_independent:
        check_independence(make, num_steps)
    check_resume(make, num_steps)
    check_knobs(make)
    check_render(make)


def check_spec(make: MakeWorld) -> None:
    """The spec is consistent, and closing twice is safe."""
    for num_lanes in (1, 3):
        world = make(num_lanes)
        spec = world.spec
        assert spec.num_lanes == num_lanes, f"{num_lanes} lanes were asked for, but the spec says {spec.num_lanes}"
        assert spec.name, "the world's name is empty"
        assert spec.frames_per_step >= 1, f"frames_per_step is {spec.frames_per_step}; a step has at least one frame"
        assert world.spec == spec, "asking for the spec twice gave two answers"
        if spec.observation.dtype == "uint8":
            assert len(spec.observation.shape) == 3, f"uint8 is for pictures [C, H, W], got {spec.observation.shape}"
        for knob in spec.knobs:
            assert knob.low <= knob.default <= knob.high, f"the default of knob '{knob.name}' is out of its range"
        world.close()
        world.close()


def check_contract(make: MakeWorld, num_steps: int) -> None:
    """Every step of a long walk keeps to the shapes and the rules, and the episodes' records add up."""
    world = make(3)
    spec = world.spec
    observation = world.reset([1, 2, 3])
    check_observation(observation, spec, "reset")
    returns, lengths, num_ended = [0.0] * 3, [0] * 3, 0
    generator = torch.Generator().manual_seed(0)
    for _ in range(num_steps):
        result = world.step(draw_actions(spec, generator, observation.device))
        check_result(result, spec)
        assert torch.equal(world.observe(), result.observation), "observe() and step() show different observations"
        assert torch.equal(world.present(), result.valid), "present() and step() disagree on who is there"
        reward = result.reward.tolist()
        for lane in range(3):
            returns[lane] += reward[lane]
            lengths[lane] += 1
        for episode in result.episodes:
            said, so_far = sorted(episode.facts), sorted(world.facts_so_far(episode.lane))
            assert said == so_far, f"an episode that ended says {said}, and one that goes on {so_far}"
            lane = episode.lane
            expected = (returns[lane], lengths[lane])
            told = f"lane {lane}: the record says return {episode.episode_return} and length {episode.length}"
            assert episode.length == expected[1], f"{told}, but {expected[1]} steps were made"
            assert spec.lanes_per_episode > 1 or np.isclose(
                episode.episode_return, expected[0], rtol=1e-5, atol=1e-5
            ), f"{told}, but the rewards add up to {expected[0]}"
            assert episode.end, f"lane {lane}: the record does not say why the episode ended"
            returns[lane], lengths[lane] = 0.0, 0
            num_ended += 1
    world.close()
    assert num_ended, f"no episode ended in {num_steps} steps of 3 lanes; walk further (num_steps)"


def check_observation(observation: Tensor, spec: WorldSpec, source: str) -> None:
    """An observation has the shape and the dtype of the spec."""
    expected = (spec.num_lanes, *spec.observation.shape)
    assert tuple(observation.shape) == expected, f"{source} gave shape {tuple(observation.shape)}, not {expected}"
    dtype = getattr(torch, spec.observation.dtype)
    assert observation.dtype == dtype, f"{source} gave {observation.dtype}, but the spec says {dtype}"


def check_result(result: StepResult, spec: WorldSpec) -> None:
    """One step's result is consistent in itself."""
    check_observation(result.observation, spec, "step")
    device = result.observation.device
    for name, dtype in (
        ("reward", torch.float32),
        ("terminated", torch.bool),
        ("truncated", torch.bool),
        ("valid", torch.bool),
    ):
        tensor: Tensor = getattr(result, name)
        assert tuple(tensor.shape) == (spec.num_lanes,), f"{name} has shape {tuple(tensor.shape)}, not [B]"
        assert tensor.dtype == dtype, f"{name} is {tensor.dtype}, not {dtype}"
        assert tensor.device == device, f"{name} is on {tensor.device}, but observations are on {device}"
    assert torch.isfinite(result.reward).all(), f"rewards must be finite, got {result.reward.tolist()}"
    assert not (result.terminated & result.truncated).any(), "a lane was terminated and truncated in the same step"
    num_cut = int(result.truncated.sum())
    expected = (num_cut, *spec.observation.shape)
    assert tuple(result.cut_observations.shape) == expected, (
        f"cut_observations has shape {tuple(result.cut_observations.shape)}, "
        f"but {num_cut} truncated lanes ask for {expected}"
    )
    assert result.cut_observations.dtype == result.observation.dtype, "cut_observations have another dtype"
    ended = torch.nonzero(result.terminated | result.truncated).flatten().tolist()
    recorded = [episode.lane for episode in result.episodes]
    if spec.lanes_per_episode == 1:
        assert recorded == ended, f"episodes were recorded for lanes {recorded}, but those of lanes {ended} ended"
    assert all(lane % spec.lanes_per_episode == 0 for lane in recorded), (
        f"episodes of {spec.lanes_per_episode} lanes go by the first of them, but lanes {recorded} were recorded"
    )


def check_seeds(make: MakeWorld, num_steps: int, *, is_random: bool) -> None:
    """The same seeds lead the same way, in the same instance and in another; other seeds lead elsewhere."""
    first, second = make(3), make(3)
    reference = walk(first, [1, 2, 3], num_steps)
    assert walk(second, [1, 2, 3], num_steps) == reference, "the same seeds led another way in a second instance"
    assert walk(first, [1, 2, 3], num_steps) == reference, "the same seeds led another way after a second reset"
    if is_random:
        assert walk(first, [11, 12, 13], num_steps) != reference, "different seeds led the same way"
    first.close()
    second.close()


def check_independence(make: MakeWorld, num_steps: int) -> None:
    """What happens in a lane follows from its own seed, whatever the other lanes' seeds and number."""
    three, one = make(3), make(1)
    generator = torch.Generator().manual_seed(0)
    actions = [draw_actions(three.spec, generator, three.observe().device) for _ in range(num_steps)]
    reference = _lane_zero(three, [1, 2, 3], actions)
    assert _lane_zero(three, [1, 8, 9], actions) == reference, "other seeds in other lanes changed what lane 0 saw"
    assert _lane_zero(one, [1], [action[:1] for action in actions]) == reference, "lane 0 goes another way when alone"
    three.close()
    one.close()


def check_resume(make: MakeWorld, num_steps: int) -> None:
    """A saved world goes on exactly; or, where it says that it cannot, begins anew the same way every time."""
    world, control = make(3), make(3)
    walk(world, [1, 2, 3], num_steps // 2 + 1)
    walk(control, [1, 2, 3], num_steps // 2 + 1)
    seen = freeze(world.observe())
    state = world.state()
    check_plain(state)
    saved = freeze(state)
    straight = walk(world, None, num_steps)
    assert walk(control, None, num_steps) == straight, "asking for the state changed what happened afterwards"
    assert freeze(state) == saved, "the state changed after it was given away; return clones"
    fresh = make(3)
    ways = []
    for name, restored in (("the same instance", world), ("a new instance", fresh)):
        restored.restore(state)
        check_observation(restored.observe(), restored.spec, "observe after restore")
        if world.spec.exact_resume:
            assert freeze(restored.observe()) == seen, f"{name} showed something else after it was restored"
            assert freeze(restored.state()) == saved, f"{name} told another state after it was restored"
        ways.append(walk(restored, None, num_steps))
        assert freeze(state) == saved, f"{name} changed the state that it was restored from; copy what it takes"
        if world.spec.exact_resume:
            assert ways[-1] == straight, f"{name} went another way after it was restored"
    assert ways[0] == ways[1], "restored twice from the same state, it went two ways"
    for each in (world, control, fresh):
        each.close()


def check_knobs(make: MakeWorld) -> None:
    """Every declared knob can be applied over its whole range."""
    world = make(2)
    world.reset([1, 2])
    for version, bound in enumerate(("low", "default", "high")):
        world.apply(Knobs(version, {knob.name: getattr(knob, bound) for knob in world.spec.knobs}))
        world.step(draw_actions(world.spec, torch.Generator().manual_seed(0), world.observe().device))
    world.close()


def check_render(make: MakeWorld) -> None:
    """A world that can draw gives RGB pictures; one that cannot says so with an error of ours."""
    world = make(2)
    world.reset([1, 2])
    before = freeze(world.state())
    try:
        frame = world.render(1)
    except RespawnError as refusal:
        assert str(refusal), "render refused without a word"
    else:
        assert frame.dtype == np.uint8, f"render gave {frame.dtype}, not uint8"
        assert frame.ndim == 3 and frame.shape[2] == 3, f"render gave shape {frame.shape}, not [height, width, 3]"
    assert freeze(world.state()) == before, "drawing a lane changed the world"
    world.close()


def draw_actions(spec: WorldSpec, generator: torch.Generator, device: torch.device | None = None) -> Tensor:
    """Random actions that a policy could choose, one a lane; continuous ones overshoot now and then."""
    kind = spec.actions
    if isinstance(kind, DiscreteActions):
        actions = torch.randint(kind.num_actions, (spec.num_lanes,), generator=generator)
    elif isinstance(kind, ContinuousActions):
        actions = torch.randn(spec.num_lanes, kind.size, generator=generator)
    else:
        columns = [torch.randint(size, (spec.num_lanes,), generator=generator) for size in kind.sizes]
        actions = torch.stack(columns, dim=1)
    return actions.to(device or "cpu")


def walk(world: World, seeds: Sequence[int] | None, num_steps: int) -> list[Any]:
    """All that a world tells on a random walk, to the last bit; without seeds, from where it is."""
    observation = world.observe() if seeds is None else world.reset(seeds)
    told = [freeze(observation)]
    generator = torch.Generator().manual_seed(7)
    for _ in range(num_steps):
        result = world.step(draw_actions(world.spec, generator, observation.device))
        fields = (result.observation, result.reward, result.terminated, result.truncated, result.cut_observations)
        # As text, for a fact may be NaN, which is not equal to itself.
        told.append((*(freeze(field) for field in fields), freeze(result.valid), repr(result.episodes)))
    return told


def _lane_zero(world: World, seeds: Sequence[int], actions: Sequence[Tensor]) -> list[Any]:
    told = [freeze(world.reset(seeds)[0])]
    for action in actions:
        result = world.step(action)
        fields = (result.observation[0], result.reward[0], result.terminated[0], result.truncated[0], result.valid[0])
        told.append(freeze([field.clone() for field in fields]))
    return told
