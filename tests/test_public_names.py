from pathlib import Path

import pytest
import torch

import respawn


def test_six_names_are_enough(tmp_path):
    preset = respawn.find_preset("cartpole-ppo")
    config = respawn.RunConfig(
        updates=2,
        collection=type(preset.collection)(num_lanes=2, horizon_steps=8),
        observers=type(preset.observers)(console=False, tensorboard=False),
    )
    folder, outcome = respawn.begin(config, preset="mine", runs_dir=Path(tmp_path), name="one")
    assert outcome.updates == 2
    assert respawn.take_up(folder, updates=3).updates == 3
    judged = respawn.judge(folder, type(preset.evaluation)(episodes=2, num_lanes=2))
    assert judged.metrics["evaluation/return_mean"] > 0
    world = respawn.make_world(config.world, 2, device=torch.device("cpu"), seed=0)
    assert world.spec.num_lanes == 2
    world.close()


def test_every_public_name_is_there_and_no_other():
    assert all(getattr(respawn, name) is not None for name in respawn.__all__)
    with pytest.raises(AttributeError, match="public names are RunConfig"):
        _ = respawn.nonsense
