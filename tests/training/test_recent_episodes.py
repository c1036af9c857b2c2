"""What is said of recent episodes: exact, of so many and no more, and kept over a resume."""

import math

import numpy as np
import pytest
import torch

from respawn.contracts.records import Episode
from respawn.testing.suites.saveable import check_saveable, freeze
from respawn.training.recent_episodes import LONGEST_WORD, MOST_ENDS, MOST_FACTS, OTHER, RecentEpisodes


class Ended:
    """The part of a rollout that is looked at."""

    def __init__(self, *episodes, num_terminated=None):
        self.episodes = episodes
        count = len(episodes) if num_terminated is None else num_terminated
        self.terminated = torch.zeros(max(len(episodes), 1), 1, dtype=torch.bool)
        self.truncated = self.terminated.clone()
        self.terminated[:count] = True
        self.truncated[count : len(episodes)] = True


def episode(episode_return=1.0, length=10, end="terminated", **facts):
    return Episode(0, episode_return, length, end, facts)


def test_nothing_is_said_before_the_first_end():
    recent = RecentEpisodes(3)
    recent.note(Ended())
    assert recent.metrics() == {}


def test_quantiles_and_spread_are_of_the_window_alone():
    recent = RecentEpisodes(100)
    recent.note(Ended(*(episode(-1e9, 10**6) for _ in range(50))))
    returns = [float(number) ** 2 for number in range(100)]
    recent.note(Ended(*(episode(each, length) for length, each in enumerate(returns, start=1))))
    told = recent.metrics()
    for name, percent in {"p10": 10, "p50": 50, "p90": 90, "p99": 99}.items():
        assert told[f"return/{name}"] == pytest.approx(np.percentile(returns, percent))
    assert (told["return/min"], told["return/max"]) == (0.0, 99.0**2)
    assert told["return/mean"] == pytest.approx(np.mean(returns))
    assert told["return/std"] == pytest.approx(np.std(returns))
    lengths = range(1, 101)
    assert told["length/mean"] == 50.5 and told["length/p50"] == 50.5
    assert told["length/p90"] == pytest.approx(np.percentile(lengths, 90))
    assert told["length/p99"] == pytest.approx(np.percentile(lengths, 99))


def test_a_return_that_is_not_finite_does_not_hide_the_others():
    recent = RecentEpisodes(100)
    recent.note(Ended(episode(math.nan, 7)))
    assert recent.metrics()["length/mean"] == 7.0 and "return/mean" not in recent.metrics()
    recent.note(Ended(episode(2.0), episode(math.inf), episode(4.0)))
    told = recent.metrics()
    assert told["return/mean"] == 3.0 and told["return/max"] == 4.0 and told["length/p50"] == 10.0


def test_the_window_is_as_wide_as_it_is_set():
    recent = RecentEpisodes(2)
    recent.note(Ended(episode(1.0), episode(2.0), episode(4.0)))
    assert recent.metrics()["return/mean"] == 3.0


def test_ends_are_shares_that_are_one_together_and_keep_their_columns():
    recent = RecentEpisodes(4)
    recent.note(Ended(episode(end="flag"), episode(end="step limit"), episode(end="pit"), episode(end="pit")))
    told = recent.metrics()
    assert (told["episodes/end_flag"], told["episodes/end_step_limit"], told["episodes/end_pit"]) == (0.25, 0.25, 0.5)
    recent.note(Ended(*(episode(end="pit") for _ in range(4))))
    told = recent.metrics()
    assert told["episodes/end_flag"] == 0.0 and told["episodes/end_pit"] == 1.0


def ends_of(told):
    return {name.removeprefix("episodes/end_"): share for name, share in told.items() if "/end_" in name}


def test_ends_that_are_one_word_are_one_share():
    recent = RecentEpisodes(10)
    recent.note(Ended(*[episode(end="time limit")] * 6, *[episode(end="time_limit")] * 3, episode(end="Time-Limit")))
    assert ends_of(recent.metrics()) == {"time_limit": 1.0}


def test_an_end_without_a_word_and_a_very_long_one_have_a_column_too():
    recent = RecentEpisodes(10)
    recent.note(Ended(episode(end="?!"), episode(end="a" * 1000)))
    assert ends_of(recent.metrics()) == {OTHER: 0.5, "a" * LONGEST_WORD: 0.5}


def test_ends_in_free_text_have_so_many_columns_and_no_more():
    recent = RecentEpisodes(100)
    for number in range(500):
        recent.note(Ended(episode(end=f"fell at x={number}")))
    recent.note(Ended(episode(end="worker lost"), episode(end="fell at x=3")))
    told = ends_of(recent.metrics())
    assert len(told) == MOST_ENDS + 2 and sum(told.values()) == pytest.approx(1.0)
    assert told[OTHER] == 0.98 and told["worker_lost"] == told["fell_at_x_3"] == 0.01
    again = RecentEpisodes(100)
    again.restore(recent.state())
    for each in (recent, again):
        each.note(Ended(episode(end="fell at x=4"), episode(end="fell at x=501")))
    assert again.metrics() == recent.metrics() and list(again.metrics()) == list(recent.metrics())


def test_ends_that_an_older_version_saved_as_they_were_said_are_words_too():
    recent = RecentEpisodes(4)
    recent.note(Ended(episode(), episode(), episode()))
    older = {**recent.state(), "ends": ["time limit", "time_limit", "pit"], "known_ends": ["time limit", "pit"]}
    again = RecentEpisodes(4)
    again.restore(older)
    assert ends_of(again.metrics()) == {"time_limit": 2 / 3, "pit": 1 / 3}


def test_facts_have_so_many_columns_and_no_more():
    recent = RecentEpisodes(10)
    recent.note(Ended(episode(**{f"fact_{number}": 1.0 for number in range(MOST_FACTS + 50)})))
    recent.note(Ended(episode(fact_0=3.0)))
    facts = {name: mean for name, mean in recent.metrics().items() if name.startswith("episode/")}
    assert len(facts) == MOST_FACTS and facts["episode/fact_0"] == 2.0


def test_how_much_terminated_is_told_by_the_flags():
    recent = RecentEpisodes(10)
    recent.note(Ended(episode(end="a"), episode(end="a"), episode(end="a"), num_terminated=1))
    assert recent.metrics()["episodes/terminated_fraction"] == pytest.approx(1 / 3)


def test_facts_are_means_of_those_that_happened():
    recent = RecentEpisodes(10)
    recent.note(Ended(episode(x=10.0, first_death=math.nan, level="1-1"), episode(x=30.0, first_death=7.0)))
    told = recent.metrics()
    assert told["episode/x"] == 20.0 and told["episode/first_death"] == 7.0
    assert "episode/level" not in told and "episode/x_max" not in told


def test_the_tail_and_the_farthest_are_told_where_the_world_says_they_matter():
    recent = RecentEpisodes(100, ("alive", "never"), "x")
    recent.note(Ended(*(episode(alive=float(number), x=100.0 - number) for number in range(11))))
    told = recent.metrics()
    assert told["episode/alive_p10"] == 1.0 and told["episode/x_max"] == 100.0
    assert not {"episode/x_p10", "episode/alive_max", "episode/never_p10"} & told.keys()


def test_recent_episodes_are_remembered():
    def advance(recent):
        count = len(recent.state()["ends"])
        recent.note(Ended(episode(count, 3, f"end {count}", x=count), episode(2.0, 5, "flag", y=1.0), num_terminated=1))

    check_saveable(lambda: RecentEpisodes(3, ("x",), "x"), advance, lambda recent: freeze(recent.metrics()))


def test_what_an_older_version_saved_can_be_taken_up():
    recent = RecentEpisodes(3)
    recent.note(Ended(episode(5.0)))
    older = {name: part for name, part in recent.state().items() if name in ("returns", "lengths", "terminations")}
    again = RecentEpisodes(3)
    again.restore(older)
    assert again.metrics()["return/mean"] == 5.0
    assert not [name for name in again.metrics() if name.startswith("episodes/end_")]
    again.note(Ended(episode(end="flag")))
    assert again.metrics()["episodes/end_flag"] == 1.0
