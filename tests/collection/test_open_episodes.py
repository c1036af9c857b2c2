import pytest
import torch
from gathering import make_collector, make_order

from respawn.collection.open_episodes import OpenEpisodes
from respawn.testing.suites.saveable import check_saveable


class Rows:
    """The part of a rollout that is looked at."""

    def __init__(self, ends, cut=(), absent=()):
        self.terminated = torch.zeros(4, 3, dtype=torch.bool)
        self.truncated = self.terminated.clone()
        self.valid = torch.ones(4, 3, dtype=torch.bool)
        for step, lane in ends:
            self.terminated[step, lane] = True
        for step, lane in cut:
            self.truncated[step, lane] = True
        self.valid[3, list(absent)] = False


def told(found):
    return found["open_length_mean"], found["open_length_p50"], found["open_length_max"]


def test_steps_count_from_the_last_end_over_rollouts():
    episodes = OpenEpisodes(3)
    assert told(episodes.note(Rows([]))) == (4.0, 4.0, 4.0)
    # Lane 0 goes on, lane 1 ended twice, lane 2 was cut at the very end.
    assert told(episodes.note(Rows([(0, 1), (1, 1)], cut=[(3, 2)]))) == (pytest.approx(10 / 3), 2.0, 8.0)
    assert told(episodes.note(Rows([(0, 0)]))) == (pytest.approx(13 / 3), 4.0, 6.0)


def test_who_is_gone_has_no_open_episode():
    episodes = OpenEpisodes(3)
    assert told(episodes.note(Rows([(0, 1)], absent=[0, 2]))) == (3.0, 3.0, 3.0)
    assert episodes.note(Rows([], absent=[0, 1, 2])) == {}


def test_who_comes_back_begins_an_episode():
    """A caught fish is gone until its school begins anew."""
    episodes = OpenEpisodes(3)
    caught, back = Rows([(0, 1)]), Rows([])
    caught.valid[1:, 1] = False
    assert told(episodes.note(caught)) == (4.0, 4.0, 4.0)
    back.valid[:3, 1] = False
    assert told(episodes.note(back)) == (pytest.approx(17 / 3), 8.0, 8.0)
    assert told(episodes.note(Rows([]))) == (pytest.approx(29 / 3), 12.0, 12.0)


def test_it_is_taken_up_where_it_was():
    def advance(episodes):
        episodes.note(Rows([(2, 1)]))

    check_saveable(lambda: OpenEpisodes(3), advance, lambda episodes: episodes.state()["steps"].tolist())


def test_collectors_say_it_with_each_rollout():
    collector = make_collector()
    for number in range(3):
        collector.start(make_order(number))
        rollout = collector.finish()
    assert rollout.counts["open_length_max"] >= rollout.counts["open_length_mean"] > 0


def test_where_episodes_begin_anew_nothing_is_left_of_those_before():
    episodes = OpenEpisodes(3)
    episodes.note(Rows([]))
    episodes.begin_anew()
    assert told(episodes.note(Rows([]))) == (4.0, 4.0, 4.0)
