"""What every Collector must pass."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from respawn.contracts.collector import Collector, CollectOrder
from respawn.contracts.records import Rollout
from respawn.memory.rollouts import rollout_from_state, rollout_state
from respawn.testing.suites.saveable import check_plain, freeze

MakeCollector = Callable[[], Collector]


def check_collector(make: MakeCollector, orders: Sequence[CollectOrder]) -> None:
    """Check a collector against its contract; raises AssertionError with a sentence that says what is wrong.

    Args:
      make: A new collector, the same every time.
      orders: At least four, with different weights.
    """
    check_manners(make, orders[0])
    check_rollouts(make, orders)
    check_ownership(make, orders)
    check_resume(make, orders)
    check_begin_anew(make, orders)


def check_manners(make: MakeCollector, order: CollectOrder) -> None:
    """One rollout at a time, nothing saved while it is under way, and closing waits for it."""
    collector = make()
    state = collector.state()
    _check_refused("finish() without start()", collector.finish)
    collector.start(order)
    _check_refused("start() during a rollout", lambda: collector.start(order))
    _check_refused("state() during a rollout", collector.state)
    _check_refused("restore() during a rollout", lambda: collector.restore(state))
    _check_refused("begin_anew() during a rollout", lambda: collector.begin_anew(state))
    collector.finish()
    collector.state()
    collector.start(order)
    collector.close()


def check_rollouts(make: MakeCollector, orders: Sequence[CollectOrder]) -> None:
    """Rollouts carry their order's numbers, are sound in themselves, join up, and come out the same every time."""
    rollouts = gather(make(), orders)
    for rollout, order in zip(rollouts, orders, strict=True):
        assert rollout.weights_version == order.weights.version, "the rollout names other weights than its order"
        assert rollout.knobs_version == order.knobs.version, "the rollout names other knobs than its order"
        check_rollout(rollout)
    for earlier, later in pairwise(rollouts):
        assert torch.equal(earlier.observations[-1], later.observations[0]), "a rollout does not begin where one ended"
    again = gather(make(), orders)
    assert [digest(rollout) for rollout in again] == [digest(rollout) for rollout in rollouts], (
        "a second collector, made the same way and given the same orders, gathered something else"
    )


def check_rollout(rollout: Rollout) -> None:
    """A rollout's rows fit together."""
    shape = rollout.rewards.shape
    for name in ("terminated", "truncated", "valid", "behaviour_log_probs"):
        assert getattr(rollout, name).shape == shape, f"{name} has another shape than rewards {tuple(shape)}"
    for name in ("terminated", "truncated", "valid"):
        assert getattr(rollout, name).dtype == torch.bool, f"{name} is not bool"
    assert rollout.observations.shape[:2] == (shape[0] + 1, shape[1]), "observations are not [T+1, B, ...]"
    assert rollout.actions.shape[:2] == shape, "actions are not [T, B, ...]"
    assert not (rollout.terminated & rollout.truncated).any(), "a row is terminated and truncated"
    assert torch.isfinite(rollout.behaviour_log_probs).all(), "log-probabilities are not finite"
    assert rollout.cuts.device.type == "cpu", "cuts are not on the CPU"
    assert torch.equal(rollout.cuts, rollout.truncated.nonzero().cpu()), "cuts are not the truncated rows, in order"
    assert len(rollout.cut_observations) == len(rollout.cuts), "not one cut observation for each cut"
    ended = int((rollout.terminated | rollout.truncated).sum())
    assert len(rollout.episodes) == ended, f"{ended} rows end an episode, but {len(rollout.episodes)} are recorded"
    for name, tensor in rollout.memory.items():
        assert tensor.shape[0] == shape[1], f"memory '{name}' is not [B, ...]"


def check_ownership(make: MakeCollector, orders: Sequence[CollectOrder]) -> None:
    """A rollout stays as it is while the next one is gathered."""
    collector = make()
    collector.start(orders[0])
    rollout = collector.finish()
    for order in orders[1:]:
        before = digest(rollout)
        collector.start(order)
        following = collector.finish()
        assert digest(rollout) == before, "gathering the next rollout changed the one that was handed out"
        rollout = following
    collector.close()


def check_resume(make: MakeCollector, orders: Sequence[CollectOrder]) -> None:
    """A saved collector goes on exactly, in the same instance and in a new one, also before its first rollout."""
    for num_before in (0, 2):
        collector = make()
        for order in orders[:num_before]:
            collector.start(order)
            collector.finish()
        state = collector.state()
        check_plain(state)
        saved = freeze(state)
        straight = [digest(rollout) for rollout in gather(collector, orders[num_before:], close=False)]
        assert freeze(state) == saved, "the state changed after it was given away; return clones"
        for name, restored in (("the same instance", collector), ("a new instance", make())):
            restored.restore(state)
            assert freeze(restored.state()) == saved, f"{name} told another state after it was restored"
            went = [digest(rollout) for rollout in gather(restored, orders[num_before:])]
            assert went == straight, f"{name} went another way after it was restored"


def check_begin_anew(make: MakeCollector, orders: Sequence[CollectOrder]) -> None:
    """A new collector that knows what another one did gathers from episodes of its own, and can be saved as it is."""
    before, after = orders[:2], orders[2:]
    collector = make()
    gather(collector, before, close=False)
    state = collector.state()
    collector.close()
    begun = make()
    begun.begin_anew(state)
    taken_up = make()
    taken_up.restore(begun.state())
    first, *_ = rollouts = gather(begun, after)
    assert first.weights_version == after[0].weights.version, "what another one had under way was handed out"
    assert [digest(rollout) for rollout in gather(taken_up, after)] == [digest(rollout) for rollout in rollouts], (
        "one that began anew could not be saved before its first rollout"
    )


def gather(collector: Collector, orders: Sequence[CollectOrder], *, close: bool = True) -> list[Rollout]:
    """A rollout for each order, in memory of its own."""
    rollouts = []
    for order in orders:
        collector.start(order)
        rollouts.append(copied(collector.finish()))
    if close:
        collector.close()
    return rollouts


def copied(rollout: Rollout) -> Rollout:
    """The same rollout in memory of its own."""
    return rollout_from_state(rollout_state(rollout), rollout.rewards.device)


def digest(rollout: Rollout) -> Any:
    """All of a rollout but how long it took, as something that can be compared with ==."""
    return freeze(rollout_state(replace(rollout, phase_seconds={}, flow={})))


def _check_refused(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except RuntimeError as refusal:
        assert str(refusal), f"{what} was refused without a word"
    else:
        raise AssertionError(f"{what} was not refused")
