"""Updates that are not finite: kept for whoever looks into them, and the run stops or goes on, as set."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from respawn.checkpoints.codec import decode
from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.records import Event, LearnReport, Rollout
from respawn.errors import LearningError
from respawn.memory.rollouts import rollout_from_state
from respawn.training.faults_config import FaultsConfig
from respawn.training.number_guard import MOST_KEPT, NumberGuard

KNOBS = Knobs(3, {"learning_rate": 0.5})
SOUND = LearnReport({"loss/total": 1.5, "gradient/norm": 0.3})
BROKEN = LearnReport({"loss/total": float("nan"), "gradient/norm": float("inf"), "value/mean": 2.0})
WEIGHTS = Weights(7, {"w": torch.arange(3.0)})


def rollout(*bad_rewards: tuple[int, int]) -> Rollout:
    """Three steps of two lanes; rewards are not finite at the places named."""
    rewards = torch.zeros(3, 2)
    for place in bad_rewards:
        rewards[place] = float("nan")
    nothing, nowhere = torch.zeros(3, 2), torch.zeros(3, 2, dtype=torch.bool)
    return Rollout(
        observations=torch.zeros(4, 2, 1),
        actions=nothing.long(),
        behaviour_log_probs=nothing,
        rewards=rewards,
        terminated=nowhere,
        truncated=nowhere,
        cuts=torch.zeros((0, 2), dtype=torch.int64),
        cut_observations=torch.zeros(0, 1),
        valid=~nowhere,
        scripted=nowhere,
        memory={"hidden": torch.zeros(2, 4)},
        weights_version=7,
        knobs_version=3,
        episodes=(),
        phase_seconds={},
    )


class Guarded:
    """A guard, and what it told."""

    def __init__(self, folder: Path, **settings) -> None:
        self.folder = folder
        self.told: list[Event] = []
        self.guard = NumberGuard(FaultsConfig(**settings), folder, self.told.append)

    def meet(self, learned: LearnReport, update: int, batch: Rollout | None = None) -> LearnReport:
        clock = Clock(updates=update - 1)
        return self.guard.passed(learned, batch or rollout((1, 0)), KNOBS, clock, lambda: WEIGHTS)

    def kept(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.exists() else []


@pytest.fixture
def faults(tmp_path):
    return tmp_path / "faults"


def test_sound_updates_pass_and_weights_are_not_even_asked_for(faults):
    guarded = Guarded(faults)

    def asked():
        raise AssertionError("nothing was wrong")

    learned = guarded.guard.passed(SOUND, rollout(), KNOBS, Clock(), asked)
    assert learned.metrics == {**SOUND.metrics, "learn/dropped": 0.0}
    assert guarded.told == [] and guarded.kept() == []


def test_it_stops_with_one_sentence_that_says_what_where_and_what_to_do(faults):
    guarded = Guarded(faults)
    with pytest.raises(LearningError) as caught:
        guarded.meet(BROKEN, 12)
    assert str(caught.value) == (
        "loss/total must be finite and is nan: the world gave rewards that are not at update 12; the batch is in "
        "faults/u00000012; the weights were not moved by it and this update is not saved: mend what caused it, or set "
        "faults.not_finite to go-on in config.json, then resume"
    )
    assert guarded.told == []  # the failure itself is told by whoever drives the run


def test_the_batch_that_caused_it_is_kept_whole(faults):
    guarded = Guarded(faults, not_finite="go-on")
    batch = replace(rollout((1, 0), (2, 1)), cut_observations=torch.full((1, 1), float("inf")))
    guarded.meet(BROKEN, 12, batch)
    place = faults / "u00000012"
    read = {
        name: decode({suffix: (place / f"{name}{suffix}").read_bytes() for suffix in (".json", ".safetensors")})
        for name in ("rollout", "weights")
    }
    again = rollout_from_state(read["rollout"], torch.device("cpu"))
    assert torch.equal(again.rewards.isnan(), batch.rewards.isnan()) and again.weights_version == 7
    assert torch.equal(read["weights"]["w"], WEIGHTS.tensors["w"])
    facts = json.loads((place / "facts.json").read_text())
    assert facts["sentence"].startswith("loss/total must be finite and is nan")
    assert facts["metrics"]["loss/total"] == "nan" and facts["metrics"]["value/mean"] == 2.0
    assert facts["knobs"] == {"learning_rate": 0.5} and facts["weights_version"] == 7
    assert facts["not_finite"] == {
        "cut_observations": {"count": 1, "first": [0, 0], "of": [1, 1]},
        "rewards": {"count": 2, "first": [1, 0], "of": [3, 2]},
    }


def test_it_goes_on_and_says_so_once_for_each(faults):
    guarded = Guarded(faults, not_finite="go-on", most_dropped=2)
    assert guarded.meet(BROKEN, 5).metrics["learn/dropped"] == 1.0
    assert guarded.meet(SOUND, 6).metrics["learn/dropped"] == 0.0
    guarded.meet(BROKEN, 7)
    assert [event.kind for event in guarded.told] == ["update_dropped"] * 2
    event = guarded.told[0]
    assert event.level == "warning"
    assert event.message.endswith("; the update is dropped, and the run goes on with the weights as they were")
    assert event.facts == {"update": 5, "in_a_row": 1, "kept": str(faults / "u00000005")}
    assert guarded.told[1].facts["in_a_row"] == 1  # there was a sound one between


def test_too_many_in_a_row_stop_it_all_the_same(faults):
    guarded = Guarded(faults, not_finite="go-on", most_dropped=2)
    for update in (5, 6):
        guarded.meet(BROKEN, update)
    with pytest.raises(LearningError, match=r"at update 7; .*, 3 times in a row; the weights were not moved") as caught:
        guarded.meet(BROKEN, 7)
    assert "or raise faults.most_dropped in config.json, then resume" in str(caught.value)  # it goes on already


def test_the_count_goes_on_when_a_run_is_resumed(faults):
    first = Guarded(faults, not_finite="go-on", most_dropped=1)
    first.meet(BROKEN, 5)
    second = Guarded(faults, not_finite="go-on", most_dropped=1)
    second.guard.restore(first.guard.state())
    with pytest.raises(LearningError, match="2 times in a row"):
        second.meet(BROKEN, 6)


def test_only_the_first_few_batches_are_kept(faults):
    guarded = Guarded(faults, not_finite="go-on", most_dropped=100)
    for update in range(1, MOST_KEPT + 3):
        guarded.meet(BROKEN, update)
    assert guarded.kept() == [f"u{update:08d}" for update in range(1, MOST_KEPT + 1)]
    assert guarded.told[-1].facts["kept"] is None and "the batch is in" not in guarded.told[-1].message


def test_an_update_that_is_made_again_replaces_its_batch_and_what_a_killed_process_left(faults):
    guarded = Guarded(faults, not_finite="go-on", most_dropped=100)
    (faults / ".writing-u00000009").mkdir(parents=True)
    (faults / ".writing-u00000009" / "rollout.json").write_text("{")
    guarded.meet(BROKEN, 5, rollout((0, 0)))
    guarded.meet(BROKEN, 5, rollout((2, 1)))
    assert guarded.kept() == ["u00000005"]
    facts = json.loads((faults / "u00000005" / "facts.json").read_text())
    assert facts["not_finite"]["rewards"]["first"] == [2, 1]


def test_a_full_disk_hinders_nothing_but_the_keeping(faults, monkeypatch):
    guarded = Guarded(faults, not_finite="go-on")
    real = Path.write_bytes

    def full(self, content):
        real(self, content[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert guarded.meet(BROKEN, 5).metrics["learn/dropped"] == 1.0
    assert [event.kind for event in guarded.told] == ["batch_not_kept", "update_dropped"]
    assert "the batch of update 5 could not be kept" in guarded.told[0].message
    assert "No space left on device" in guarded.told[0].message
    assert guarded.kept() == []
