import pytest

from respawn.cli.bench_settings import split_settings, trained
from respawn.errors import ConfigError, RomError


@pytest.mark.parametrize(
    ("words", "own", "settings"),
    [
        (["mario", "--lanes", "8"], ["mario", "--lanes", "8"], []),
        (["mario", "--", "--learner.clip", "0.1"], ["mario"], ["--learner.clip", "0.1"]),
        (["--", "--a", "--", "b"], [], ["--a", "--", "b"]),
    ],
)
def test_what_follows_two_dashes_is_the_trainings(words, own, settings):
    assert split_settings(words) == (own, settings)


def test_settings_are_those_of_train():
    config = trained("cartpole-ppo", ["--learner.clip", "0.1", "--threads", "3"], device="cpu", threads=2)
    assert config.learner.clip == 0.1
    assert config.threads == 2 and config.device == "cpu"
    assert trained("cartpole-ppo", [], device="cpu").threads == 1


@pytest.mark.parametrize(
    ("words", "device", "kind", "sentence"),
    [
        (["--learner.clap", "1"], "cpu", ConfigError, "there is no option --learner.clap for 'respawn train mario'"),
        (["--learner.clip", "-1"], "cpu", ConfigError, "learner.clip must be"),
        ([], "abacus", ConfigError, "--device must be auto, cpu, cuda or cuda:N, not 'abacus'"),
        (["--rom", "no.nes"], "cpu", RomError, "no.nes is not there"),
    ],
)
def test_what_cannot_be_trained_is_refused_at_once(words, device, kind, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=sentence):
        trained("mario", words, device=device)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--device", "cuda"], "--device is decided by the bench, and would have no effect after --; give --device"),
        (
            ["--collection.num_lanes", "4"],
            "--collection.num-lanes is decided by the bench",
        ),
        (["--collection.horizon-steps=4"], "--collection.horizon-steps is decided by the bench"),
        (["--weights-from", "nosuch"], "--weights-from is decided by the bench"),
        (["--evaluation.no-greedy"], "--evaluation.no-greedy is decided by the bench"),
        (["--minutes=1"], "--minutes is decided by the bench"),
        (["--updates", "3"], "--updates is decided by the bench"),
        (["--evaluation.every_updates", "3"], "--evaluation.every-updates is decided by the bench"),
        (["--no-evaluation.greedy"], "--no-evaluation.greedy is decided by the bench"),
        (["--checkpoints.every-seconds", "3"], "--checkpoints.every-seconds is decided by the bench"),
    ],
)
def test_what_the_bench_decides_itself_is_refused(words, sentence):
    with pytest.raises(ConfigError) as caught:
        trained("cartpole-ppo", words, device="cpu")
    assert str(caught.value).startswith(sentence)
