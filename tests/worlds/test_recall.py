import pytest
import torch

from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.maths.hashing import mix
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld


def test_one_episode_as_written():
    world = RecallWorld(RecallConfig(num_cues=3, delay_steps=2), 2)
    seen = world.reset([4, 5])
    cues = seen[:, :3].argmax(dim=1)
    assert seen[:, :3].sum(dim=1).tolist() == [1, 1] and seen[:, 3:].tolist() == [[1, 0], [1, 0]]
    for _ in range(2):
        result = world.step(cues)
        assert result.observation.abs().sum() == 0 and result.reward.tolist() == [0, 0]
    result = world.step(cues)
    assert result.observation.tolist() == [[0, 0, 0, 0, 1]] * 2 and not result.terminated.any()
    result = world.step(torch.stack([cues[0], (cues[1] + 1) % 3]))
    assert result.reward.tolist() == [1, -1] and result.terminated.all()
    assert [(episode.episode_return, episode.length, episode.end) for episode in result.episodes] == [
        (1.0, 4, "terminated"),
        (-1.0, 4, "terminated"),
    ]
    assert result.observation[:, 3].tolist() == [1, 1]  # the next cue is shown at once


def test_remembering_always_wins_and_guessing_wins_by_chance():
    config = RecallConfig(num_cues=4, delay_steps=3)
    world = RecallWorld(config, 64)
    seen = world.reset(range(64))
    remembered, returns, guesses = seen[:, :4].argmax(dim=1), [], []
    for _ in range(20 * (config.delay_steps + 2)):
        showing = seen[:, 4] == 1
        remembered = torch.where(showing, seen[:, :4].argmax(dim=1), remembered)
        result = world.step(remembered)
        returns += [episode.episode_return for episode in result.episodes]
        guesses += (remembered[result.terminated] == 2).float().tolist()
        seen = result.observation
    assert returns == [1.0] * (64 * 20)
    assert abs(sum(guesses) / len(guesses) - 1 / 4) < 0.05  # cues are even, so a constant answer is right 1 in 4 times


def test_noise_hides_nothing_but_the_blank():
    world = RecallWorld(RecallConfig(num_cues=3, delay_steps=1, noise=0.5), 256)
    first = world.reset(range(256))
    assert first[:, :3].sum() == 256
    blank = world.step(torch.zeros(256, dtype=torch.int64)).observation
    assert blank[:, :3].abs().max() <= 0.5 and abs(blank[:, :3].mean()) < 0.05 and blank[:, :3].std() > 0.25
    assert blank[:, 3:].abs().sum() == 0


def test_mix_is_splitmix64():
    # The first outputs of the reference implementation seeded with 1234567 (Vigna, splitmix64.c).
    golden = 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    inputs = [(1234567 + golden * step) % 2**64 for step in range(3)]
    signed = torch.tensor([(number + 2**63) % 2**64 - 2**63 for number in inputs])
    assert [number % 2**64 for number in mix(signed).tolist()] == expected


@pytest.mark.parametrize("wrong", [{"num_cues": 1}, {"delay_steps": -1}, {"noise": -0.1}, {"noise": float("nan")}])
def test_config_refuses(wrong):
    with pytest.raises(ConfigError, match="world." + next(iter(wrong)).replace("_", "-")):
        RecallConfig(**wrong)


def test_says_what_is_wrong():
    world = RecallWorld(RecallConfig(), 2)
    with pytest.raises(WorldError, match="one seed for each of 2 lanes, got 3"):
        world.reset([1, 2, 3])
    with pytest.raises(CheckpointError, match="expected the state of 2 lanes, got 3"):
        world.restore(RecallWorld(RecallConfig(), 3).state())


def test_render_shows_the_cue():
    world = RecallWorld(RecallConfig(num_cues=2), 1)
    cue = int(world.reset([3])[0, :2].argmax())
    frame = world.render(0)
    assert frame.shape == (32, 4 * 32, 3)
    assert frame[0, cue * 32].tolist() == [0, 0, 255] and frame[0, 2 * 32].tolist() == [0, 255, 0]
