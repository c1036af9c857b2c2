"""What every Learner must pass."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Learner
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import Saveable
from respawn.memory.rollouts import rollout_state
from respawn.testing.suites.saveable import check_plain, freeze

MakeLearner = Callable[[], tuple[Learner, Saveable]]


def check_learner(make: MakeLearner, rollouts: Sequence[Rollout], explained: Collection[str]) -> None:
    """Check a learner against its contract; raises AssertionError with a sentence that says what is wrong.

    Args:
      make: A new learner and the weights that it trains, as a part that is saved; the same every time.
      rollouts: At least four, gathered with weights of version 0.
      explained: All the metric names that are explained to the reader.
    """
    check_knobs(make)
    check_updates(make, rollouts, explained)
    check_resume(make, rollouts)


def check_knobs(make: MakeLearner) -> None:
    """Knobs are declared once, each with a default in its range, and every time alike."""
    learner, _ = make()
    names = [knob.name for knob in learner.knobs]
    assert len(set(names)) == len(names), f"knobs are declared twice among {names}"
    assert learner.knobs == learner.knobs, "asking for the knobs twice gave two answers"
    for knob in learner.knobs:
        assert knob.low <= knob.default <= knob.high, f"the default of knob '{knob.name}' is out of its range"


def check_updates(make: MakeLearner, rollouts: Sequence[Rollout], explained: Collection[str]) -> None:
    """Updates count, move the weights, leave rollouts alone, and report finite numbers by explained names."""
    learner, part = make()
    told, columns = learner.weights(), None
    assert told.version == 0, f"weights that no update made have version {told.version}"
    for update, rollout in enumerate(rollouts, start=1):
        before, seen = freeze(dict(told.tensors)), freeze(rollout_state(rollout))
        metrics = learner.learn(rollout, defaults(learner)).metrics
        assert freeze(rollout_state(rollout)) == seen, "learning changed the rollout"
        assert freeze(dict(told.tensors)) == before, "learning changed weights that were given away; return clones"
        told = learner.weights()
        assert told.version == update, f"after {update} updates the weights have version {told.version}"
        assert freeze(dict(told.tensors)) != before, f"update {update} did not move the weights"
        assert freeze(dict(told.tensors)) == freeze(part.state()), "the weights told are not those that are saved"
        assert metrics, "an update reported nothing"
        for name, value in metrics.items():
            assert type(value) is float, f"metric '{name}' is a {type(value)}, not a float"
            assert math.isfinite(value), f"metric '{name}' is {value}"
        unknown = sorted(set(metrics) - set(explained))
        assert not unknown, f"metrics {unknown} are not explained"
        assert columns in (None, set(metrics)), "updates reported different sets of metrics"
        columns = set(metrics)
        assert metrics.get("weights/lag", update - 1) == update - 1, "the lag is not counted from the rollout's weights"


def check_resume(make: MakeLearner, rollouts: Sequence[Rollout]) -> None:
    """A saved learner goes on exactly, in a new instance; asking for its state changes nothing."""
    halfway = len(rollouts) // 2
    learner, _ = make()
    straight = [_learned(learner, rollout) for rollout in rollouts]
    saved_one, saved_part = make()
    for rollout in rollouts[:halfway]:
        saved_one.learn(rollout, defaults(saved_one))
    state, weights = saved_one.state(), saved_part.state()
    check_plain(state)
    check_plain(weights)
    frozen = freeze([state, weights])
    went_on = [_learned(saved_one, rollout) for rollout in rollouts[halfway:]]
    assert went_on == straight[halfway:], "asking for the state changed what happened afterwards"
    assert freeze([state, weights]) == frozen, "the state changed after it was given away; return clones"
    fresh, fresh_part = make()
    fresh.learn(rollouts[-1], defaults(fresh))  # so that there is something to be put back
    fresh.restore(state)
    fresh_part.restore(weights)
    assert freeze([fresh.state(), fresh_part.state()]) == frozen, "a restored learner told another state"
    went_on = [_learned(fresh, rollout) for rollout in rollouts[halfway:]]
    assert went_on == straight[halfway:], "a restored learner went another way"
    assert freeze([state, weights]) == frozen, "a restored learner changed the state that it was restored from"


def defaults(learner: Learner) -> Knobs:
    """Every knob as the learner would have it."""
    return Knobs(0, {knob.name: knob.default for knob in learner.knobs})


def _learned(learner: Learner, rollout: Rollout) -> Any:
    metrics = learner.learn(rollout, defaults(learner)).metrics
    timeless = {name: value for name, value in metrics.items() if not name.startswith("time/")}
    return freeze([timeless, dict(learner.weights().tensors)])
