import dataclasses
import json
import sys

import dacite
import pytest
import torch
import tyro

from respawn.errors import ConfigError, WorldError
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.registry import WorldConfig, caveats, describe, make_world
from respawn.worlds.seeds import lane_seeds

CPU = torch.device("cpu")


@pytest.mark.parametrize("config", [ForeignConfig(), RecallConfig()])
def test_makes_a_world_that_has_begun(config):
    world, again = (make_world(config, 2, device=CPU, seed=3) for _ in range(2))
    seen = world.observe().clone()
    assert torch.equal(seen, again.observe()) and torch.equal(seen, again.reset(lane_seeds(3, 2)))
    other = make_world(ForeignConfig(), 2, device=CPU, seed=4)
    assert not torch.equal(make_world(ForeignConfig(), 2, device=CPU, seed=3).observe(), other.observe())


def test_needs_a_lane():
    with pytest.raises(ConfigError, match="at least one lane, got 0"):
        make_world(RecallConfig(), 0, device=CPU, seed=0)


def test_a_missing_engine_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "respawn.worlds.mario.world", None)
    with pytest.raises(WorldError, match=r"the NES engine is not built here .* run 'make setup'"):
        make_world(MarioConfig(), 1, device=CPU, seed=0)


def test_the_pal_program_comes_with_a_caveat():
    (caveat,) = caveats(MarioConfig(region="pal"))
    assert (caveat.kind, caveat.level) == ("pal_timing", "warning") and "keeps NTSC's time" in caveat.message
    assert caveats(MarioConfig()) == caveats(RecallConfig()) == ()


def test_describe():
    assert describe(ForeignConfig(env_id="Acrobot-v1")) == "Acrobot-v1"
    assert describe(RecallConfig(num_cues=3)) == "recall (3 cues, 8 steps)"


@dataclasses.dataclass(frozen=True)
class Holder:
    world: WorldConfig


def test_configs_survive_json():
    for config in (
        ForeignConfig(imports=("a", "b"), env_kwargs={"is_slippery": False, "size": 8, "p": 0.5, "name": "x"}),
        RecallConfig(noise=0.5),
    ):
        stored = json.loads(json.dumps(dataclasses.asdict(Holder(config))))
        assert dacite.from_dict(Holder, stored, dacite.Config(cast=[tuple], strict=True)).world == config


def test_configs_come_from_a_command_line():
    arguments = "--env-id Acrobot-v1 --workers 2 --imports a b --env-kwargs is_slippery False size 8 name x"
    config = tyro.cli(ForeignConfig, args=arguments.split())
    assert (config.env_id, config.workers, config.imports) == ("Acrobot-v1", 2, ("a", "b"))
    assert config.env_kwargs == {"is_slippery": False, "size": 8, "name": "x"}
    assert config.kind == "foreign"
