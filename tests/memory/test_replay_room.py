import pytest
import torch
from stored import numbered_rollout

from respawn.contracts.world import DiscreteActions, ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.memory import replay_room
from respawn.memory.replay_config import ReplayConfig
from respawn.memory.replay_room import check_room, segment_bytes
from respawn.memory.segments import Segments

CPU = torch.device("cpu")


def spec_of(rollout):
    shape = tuple(rollout.observations.shape[2:])
    dtype = "uint8" if rollout.observations.dtype == torch.uint8 else "float32"
    return WorldSpec("stored", ObservationSpec(shape, dtype), DiscreteActions(3), rollout.rewards.shape[1])


@pytest.mark.parametrize("half_scalars", [False, True])
def test_a_segment_is_as_large_as_it_was_said_to_be(half_scalars):
    rollout = numbered_rollout()
    config = ReplayConfig(capacity_decisions=18, segments=2, half_scalars=half_scalars)
    size = segment_bytes(config, spec_of(rollout), len(rollout.rewards), rollout.memory)
    segments = Segments(config, CPU, lambda event: None)
    segments.allocate(rollout)
    segments.push(rollout, torch.arange(4))
    kept = sum(part.numel() * part.element_size() for part in segments.state()["kept"].values())
    one_cut = rollout.observations[0, 0]
    assert size == kept // 4 + one_cut.numel() * one_cut.element_size()


def test_what_the_first_update_would_stumble_over_is_refused_before(monkeypatch):
    rollout = numbered_rollout()
    about = spec_of(rollout), len(rollout.rewards), rollout.memory, CPU
    check_room(ReplayConfig(capacity_decisions=60, segments=2), *about)
    with pytest.raises(ConfigError, match=r"raise learner\.replay\.memory-gb"):
        check_room(ReplayConfig(capacity_decisions=60, segments=2, memory_gb=1e-9), *about)
    monkeypatch.setattr(replay_room.psutil, "virtual_memory", lambda: type("Memory", (), {"total": 100})())
    with pytest.raises(ConfigError, match="and this computer has"):
        check_room(ReplayConfig(capacity_decisions=60, segments=2), *about)
