"""What a sweep searches, as a file says it."""

import pytest
from small_studies import tiny

from respawn.errors import ConfigError
from respawn.presets import find_preset
from respawn.sweeps.space import Choice, Range, check_space, nested, read_space, space_from_plain, space_to_plain


def read(tmp_path, text, preset="cartpole-ppo"):
    path = tmp_path / "space.toml"
    path.write_text(text)
    return read_space(path, preset, find_preset(preset))


def test_a_file_says_ranges_and_choices(tmp_path):
    space = read(
        tmp_path,
        """
        preset = "cartpole-ppo"
        learner.optimizer.learning-rate = { low = 1e-4, high = 1e-2, log = true }
        learner.epochs = { low = 1, high = 9, step = 2 }
        learner.clip = { low = 0.25, high = 1, step = 0.25 }
        [model]
        hidden_sizes = [[64, 64], [128]]
        core = ["none", "gru"]
        """,
    )
    assert space == {
        "learner.optimizer.learning_rate": Range(1e-4, 1e-2, log=True),
        "learner.epochs": Range(1, 9, step=2, is_whole=True),
        "learner.clip": Range(0.25, 1, step=0.25),
        "model.hidden_sizes": Choice(([64, 64], [128])),
        "model.core": Choice(("none", "gru")),
    }
    assert list(space["learner.epochs"].whole_values) == [1, 3, 5, 7, 9]
    assert space["model.hidden_sizes"].labels == ("[64, 64]", "[128]")


def test_whole_ends_of_a_number_that_is_none_are_no_whole_numbers():
    kinds = {"clip": Range(0, 1), "epochs": Range(1, 4, is_whole=True)}
    for name, expected in kinds.items():
        plain = {"learner": {name: {"low": expected.low, "high": expected.high}}}
        assert space_from_plain(plain, tiny()) == {f"learner.{name}": expected}


def test_a_space_is_the_same_after_being_kept():
    plain = {
        "learner": {"clip": {"low": 0.1, "high": 0.4}, "epochs": {"low": 1, "high": 5, "step": 2}},
        "learner.entropy_cost": {"low": 1e-4, "high": 1e-2, "log": True},
        "model.core": ["none", "gru"],
    }
    space = space_from_plain(plain, tiny())
    assert space_from_plain(space_to_plain(space), tiny()) == space


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is nothing to search"),
        ("learner.klip = {low = 0.1, high = 0.4}", r"no setting learner\.klip; did you mean learner\.clip\?"),
        ("learner.clip = {low = 0.4, high = 0.1}", r"low \(0\.4\) must be below high \(0\.1\)"),
        ("learner.clip = {low = 0.1, high = 0.1}", "must be below"),
        ("learner.clip = {low = nan, high = 0.1}", "low should be a number, not nan"),
        ("learner.clip = {low = 0.1, high = inf}", "high should be a number, not inf"),
        ("learner.clip = {low = 'a', high = 0.1}", "low should be a number, not 'a'"),
        ("learner.clip = {low = true, high = 3}", "low should be a number, not True"),
        ("learner.clip = {low = 0.1, high = 0.4, log = 1}", "log should be true or false, not 1"),
        ("learner.clip = {low = 0.0, high = 0.4, log = true}", "low must be above 0 where log is true"),
        ("learner.clip = {low = 0.1, high = 0.4, log = true, step = 0.1}", "log and step exclude each other"),
        ("learner.clip = {low = 0.1, high = 0.4, step = 1}", r"at most high minus low \(0\.3\), not 1"),
        ("learner.clip = {low = 0.1, hi = 0.4}", "should have low and high, and may have log and step; it has low, hi"),
        ("learner.clip = {low = 0.1}", "should have low and high"),
        ("learner.clip = 0.3", r"should say what to try, as \{low = 1, high = 8\}"),
        ("learner.clip = [0.3]", "at least two values to choose from"),
        ("learner.clip = [0.3, 0.3]", "lists a value twice"),
        ("learner.clip = ['a', 'b']", r"learner\.clip wants a number, and 'a' came"),
        ("learner.clip = {low = -1.0, high = 0.4}", r"learner\.clip must be above 0, not -1"),
        ("learner.epochs = {low = 1.5, high = 4}", r"learner\.epochs must be a whole number, not 1\.5"),
        ("learner.epochs = {low = 1, high = 4, step = 1.5}", r"learner\.epochs must be a whole number, not 2\.5"),
        ("model.core = ['none', 'gruu']", r"model\.core must be none or gru"),
        ("seed = [1, 2]", "seed is not to be searched: each trial has its own"),
        ("updates = [1, 2]", "updates is not to be searched: all trials get the same number of decisions"),
        ("evaluation.episodes = [1, 2]", r"evaluation\.episodes is not to be searched: trials that are judged"),
        ("world.max_episode_steps = [5, 50]", "not to be searched: trials would be judged in worlds that differ"),
        ("preset = 'mario'\nlearner.clip = [0.1, 0.2]", "is for the preset mario, and cartpole-ppo was asked for"),
        ("learner = {", "wants a TOML file, and .* is none"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(tmp_path, text, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        read(tmp_path, text)
    assert "space.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match=r"--space wants a TOML file, and .*none\.toml cannot be read"):
        read_space(tmp_path / "none.toml", "cartpole-ppo", tiny())


def test_what_an_agent_sees_does_and_is_paid_may_be_searched():
    base = find_preset("mario")
    plain = {"world": {"frame_skip": [2, 4], "rewards": {"death": {"low": -10.0, "high": 0.0}}}}
    check_space(space_from_plain(plain, base), base)
    for name, values in {"sticky": [0.0, 0.25], "levels": [["1-1"], ["1-2"]], "start_jitter": [0, 30]}.items():
        with pytest.raises(ConfigError, match=rf"world\.{name} is not to be searched"):
            check_space(space_from_plain({"world": {name: values}}, base), base)


@pytest.mark.parametrize(
    ("span", "held", "not_held"),
    [
        (Range(0.1, 0.4), (0.1, 0.25, 0.4), (0.5, 0.09, "0.2", True, None, float("nan"))),
        (Range(0.1, 0.4, step=0.1), (0.1, 0.1 + 2 * 0.1, 0.4), (0.15, 0.45)),
        (Range(1, 9, step=4, is_whole=True), (1, 5.0, 9), (3, 1.5, 13)),
        (Range(1, 8, log=True, is_whole=True), (1, 3, 8), (0, 2.5)),
        (Choice(([4], [8, 8])), ("[4]", "[8, 8]"), ([4], "[8]", None)),
    ],
)
def test_a_span_knows_what_it_holds(span, held, not_held):
    assert all(span.holds(value) for value in held) and not any(span.holds(value) for value in not_held)


def test_settings_are_nested_by_their_names():
    assert nested({"a.b": 1, "a.c.d": 2, "e": 3}) == {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
