"""Who draws is chosen, measured or fallen back to, and makes no difference to what is drawn."""

import numpy as np
import pytest
import torch

from respawn.memory.sampler_choice import ChosenSampler

CPU = torch.device("cpu")
MASSES = torch.from_numpy(np.random.default_rng(0).integers(0, 100, 500))


class Clock:
    """Each draw takes as long as its turn says, in milliseconds; the last one for ever."""

    def __init__(self, *milliseconds):
        self.turns, self.calls, self.now = list(milliseconds), 0, 0.0

    def __call__(self):
        self.calls += 1
        if self.calls % 2 == 0:
            self.now += (self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]) / 1000
        return self.now


def sampler(choice, *milliseconds, **settings):
    events = []
    made = ChosenSampler(choice, 500, CPU, notify=events.append, clock=Clock(*(milliseconds or (1,))), **settings)
    made.assign(np.arange(500), MASSES)
    return made, events


def uniforms(seed):
    return torch.rand(32, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def drawn(made, draws=8):
    return [[part.tolist() for part in made.draw(uniforms(seed))] for seed in range(draws)]


def test_all_draw_the_same_even_while_falling_back():
    expected = drawn(sampler("tree")[0])
    fallen, events = sampler("device", 9, fallback_ms=5)
    assert drawn(fallen) == drawn(sampler("device")[0]) == drawn(sampler("auto")[0]) == expected
    assert [event.kind for event in events] == ["replay_sampler_fallback"] and not fallen.on_device


@pytest.mark.parametrize(("choice", "on_device"), [("tree", False), ("device", True)])
def test_who_was_asked_for_draws(choice, on_device):
    made, events = sampler(choice)
    drawn(made)
    assert made.on_device == on_device and not events


@pytest.mark.parametrize(("tree_ms", "device_ms"), [(1, 2), (2, 1)])
def test_auto_takes_the_faster_and_says_why(tree_ms, device_ms):
    made, events = sampler("auto", *[tree_ms] * 5, *[device_ms] * 5)
    assert not made.on_device  # nobody has been chosen yet
    drawn(made)
    assert made.on_device == (device_ms < tree_ms)
    (event,) = events
    assert event.kind == "replay_sampler" and f"{device_ms:.2f} ms on the device" in event.message
    assert event.facts == pytest.approx({"device_ms": device_ms, "tree_ms": tree_ms})


def test_only_slow_draws_in_a_row_count():
    made, events = sampler("device", 9, 9, 1, 9, 9, 1, 9, 9, 9, fallback_ms=5)
    drawn(made, 8)
    assert made.on_device and not events
    drawn(made, 1)
    assert not made.on_device
    (event,) = events
    assert "3 draws in a row took more than the 5 ms" in event.message and event.level == "warning"


def test_masses_set_after_falling_back_count():
    made, _ = sampler("device", 9, fallback_ms=5)
    drawn(made)
    made.assign(np.arange(500), torch.zeros(500, dtype=torch.int64))
    made.assign(np.array([41]), torch.tensor([99]))
    assert set(made.draw(uniforms(0)).slots.tolist()) == {41}
