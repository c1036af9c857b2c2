"""What the most recent episodes of training were like: returns, lengths, ends, and what their world says of them."""

import re
from collections import deque
from math import isfinite, isnan

from respawn.contracts.records import Episode, Rollout
from respawn.contracts.saveable import StateTree
from respawn.maths.running import Window

MOST_ENDS = 32
"""Reasons that have a column each. An environment may say its ends in free text, of which there is no end."""
OTHER = "other"
"""The reason of all that come later, and of what has no word."""
OF_EVERY_WORLD = frozenset({"terminated", "time_limit", "worker_lost"})
"""Reasons that always have a column."""
LONGEST_WORD = 60
MOST_FACTS = 200
"""Facts that have a column each; those that come later have none."""


class RecentEpisodes:
    """Sums up the last `size` episodes."""

    def __init__(self, size: int, tail_facts: tuple[str, ...] = (), farthest_fact: str = "") -> None:
        """Begin with none.

        Args:
          size: how many.
          tail_facts: facts whose 10th percentile matters too.
          farthest_fact: the one whose largest matters too; empty: none.
        """
        self._size = size
        self._tail_facts = tail_facts
        self._farthest_fact = farthest_fact
        self._returns = Window(size)
        self._lengths = Window(size)
        self._terminations = Window(size)
        self._facts: dict[str, Window] = {}
        self._ends: deque[str] = deque(maxlen=size)  # as words, each of them known
        self._known_ends: list[str] = []  # in the order they first came, so that a column once there stays

    def note(self, rollout: Rollout) -> None:
        """Take in the episodes that ended in a rollout."""
        # One that is not finite is in episodes.jsonl; here it would hide all others for as long as the window is.
        returns = (episode.episode_return for episode in rollout.episodes)
        self._returns.extend(value for value in returns if isfinite(value))
        self._lengths.extend(episode.length for episode in rollout.episodes)
        # Not from the episodes' ends: a word of the world's own may stand for either.
        self._terminations.extend(rollout.terminated[rollout.terminated | rollout.truncated].tolist())  # by step, lane
        for episode in rollout.episodes:
            self._note_words(episode)

    def _note_words(self, episode: Episode) -> None:
        self._ends.append(self._known(episode.end))
        for name, fact in episode.facts.items():
            has_column = name in self._facts or len(self._facts) < MOST_FACTS
            if has_column and not isinstance(fact, str) and not isnan(fact):  # NaN: what it tells of never happened
                self._facts.setdefault(name, Window(self._size)).extend([fact])

    def _known(self, end: str) -> str:
        """The word of an end; where there are too many already, that of all others."""
        word = _word(end)
        is_one_too_many = len(self._known_ends) >= MOST_ENDS and word not in OF_EVERY_WORLD
        if word not in self._known_ends and is_one_too_many:
            word = OTHER
        if word not in self._known_ends:
            self._known_ends.append(word)
        return word

    def metrics(self) -> dict[str, float]:
        """All of it by name; nothing before the first episode has ended."""
        if not len(self._lengths):
            return {}
        middle, long, longest = self._lengths.percentiles(50, 90, 99)
        return {
            **self._about_returns(),
            "length/mean": self._lengths.mean(),
            "length/p50": middle,
            "length/p90": long,
            "length/p99": longest,
            "episodes/terminated_fraction": self._terminations.mean(),
            **{f"episodes/end_{word}": self._ends.count(word) / len(self._ends) for word in self._known_ends},
            **{f"episode/{name}": window.mean() for name, window in self._facts.items()},
            **{
                f"episode/{name}_p10": self._facts[name].percentiles(10)[0]
                for name in self._tail_facts
                if name in self._facts
            },
            **{
                f"episode/{name}_max": window.percentiles(100)[0]
                for name, window in self._facts.items()
                if name == self._farthest_fact
            },
        }

    def _about_returns(self) -> dict[str, float]:
        if not len(self._returns):
            return {}
        p10, p50, p90, p99, least, most = self._returns.percentiles(10, 50, 90, 99, 0, 100)
        return {
            "return/mean": self._returns.mean(),
            "return/std": self._returns.std(),
            "return/p10": p10,
            "return/p50": p50,
            "return/p90": p90,
            "return/p99": p99,
            "return/min": least,
            "return/max": most,
        }

    def state(self) -> StateTree:
        """The recent episodes."""
        return {
            "returns": self._returns.state(),
            "lengths": self._lengths.state(),
            "terminations": self._terminations.state(),
            "facts": {name: window.state() for name, window in self._facts.items()},
            "ends": list(self._ends),
            "known_ends": list(self._known_ends),
        }

    def restore(self, state: StateTree) -> None:
        """The recent episodes again; of those that an older version saved, how they ended is not known."""
        self._returns.restore(state["returns"])
        self._lengths.restore(state["lengths"])
        self._terminations.restore(state["terminations"])
        for name, window in state.get("facts", {}).items():
            self._facts.setdefault(name, Window(self._size)).restore(window)
        self._known_ends = []
        for end in state.get("known_ends", ()):
            self._known(end)  # older versions kept them as the world said them
        self._ends = deque(map(self._known, state.get("ends", ())), maxlen=self._size)


def _word(end: str) -> str:
    """A reason as a part of a metric's name, such as time_limit."""
    return re.sub(r"[^a-z0-9]+", "_", end.lower()).strip("_")[:LONGEST_WORD].strip("_") or OTHER
