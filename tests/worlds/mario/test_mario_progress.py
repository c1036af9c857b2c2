import numpy as np
import pytest
from memories import memory, place_mario, watched

from respawn.testing.suites.saveable import check_saveable, freeze
from respawn.worlds.mario import ram
from respawn.worlds.mario.limits import ENDS, look
from respawn.worlds.mario.progress import Progress
from respawn.worlds.mario.ram import read_facts

FIRST = np.zeros(1, np.int32)


class Walk:
    """One lane whose facts a test makes up."""

    def __init__(self, x=40, milestone_pixels=100, **options):
        self.progress = Progress(1, 4, milestone_pixels, **options)
        self.facts = self._facts(x, {})
        self.progress.begin(FIRST, FIRST, self.facts)

    @staticmethod
    def _facts(x, bytes_at):
        digits = bytes_at.pop("clock", 400)
        y = bytes_at.pop("y", 176)
        made = memory(**bytes_at)
        place_mario(made, x % (1 << 16), y)
        made[ram.TIME_DIGITS : ram.TIME_DIGITS + 3] = [int(digit) for digit in f"{digits:03d}"]
        return read_facts(watched(made))

    def to(self, x, **bytes_at):
        after = self._facts(x, bytes_at)
        counted = self.progress.advance(self.facts, after, look(after))
        self.facts = after
        return {name: int(values[0]) for name, values in counted._asdict().items()}

    def arrives(self, x, **bytes_at):
        after = self._facts(x, bytes_at)
        self.progress.arrive(0, 100, self.facts, after)
        self.facts = after

    def told(self):
        return self.progress.facts(0, ENDS.index("death"), self.facts, "1-1")


def test_distance_is_from_the_true_previous_place():
    walk = Walk()
    assert [walk.to(x)["distance"] for x in (44, 54, 50, 60)] == [4, 10, -4, 10]
    assert walk.told()["x"] == 60.0


def test_what_is_too_far_was_not_walked():
    walk = Walk(1000)
    assert walk.to(1025)["distance"] == 0
    assert walk.to(1049)["distance"] == 24
    assert walk.told()["loops"] == 0.0


@pytest.mark.parametrize("change", [{"layout_low": 9}, {"area": 2}, {"level_stage": 1}])
def test_another_place_pays_nothing(change):
    walk = Walk(1040)
    assert walk.to(1045, **change)["distance"] == 0
    walk = Walk(1064)
    assert walk.to(40, **change)["distance"] == 0
    assert walk.told()["loops"] == 0.0, "a pipe that leads a thousand pixels back is no maze"
    assert walk.told()["x"] == 1064.0


def test_a_maze_takes_back_what_it_paid():
    walk = Walk(1000)
    assert walk.to(1010)["distance"] == 10
    assert walk.to(1010 - 1024 + 8)["distance"] == 0
    assert (walk.told()["loops"], walk.told()["x"]) == (1.0, -6.0)
    paid = sum(walk.to(x)["distance"] for x in range(10, 1_030, 10))
    assert paid == pytest.approx(1_020 - 1_018, abs=10)
    assert walk.told()["x"] == 1_020.0


def test_a_pipe_that_leads_back_is_a_maze_too():
    walk = Walk(800)
    walk.arrives(300)
    assert (walk.told()["loops"], walk.told()["x"]) == (1.0, 300.0)
    assert not walk.progress.looped[0]
    assert sum(walk.to(x)["distance"] for x in range(310, 830, 10)) == 20
    assert walk.told()["x"] == 820.0
    assert walk.told()["loops"] == 1.0


def test_it_is_known_in_the_step_after():
    walk = Walk(800)
    walk.arrives(300)
    walk.to(310)
    assert walk.progress.looped[0]
    walk.to(320)
    assert not walk.progress.looped[0]


def test_pipes_that_lead_on_or_elsewhere_are_none():
    walk = Walk(800)
    walk.arrives(1_300)
    assert (walk.told()["loops"], walk.told()["x"]) == (0.0, 1_300.0)
    assert walk.to(1_310)["distance"] == 10
    walk.arrives(40, layout_low=7)
    assert walk.told()["loops"] == 0.0
    assert walk.to(50, layout_low=7)["distance"] == 10


def test_a_new_life_is_paid_for_its_own_way():
    walk = Walk(800)
    walk.to(800, task=ram.TASK_DYING)
    walk.arrives(40)
    assert walk.told()["loops"] == 0.0
    assert walk.to(50)["distance"] == 10


IN_THE_AIR = {"float_state": ram.FALLING}
DOWN_A_PIT = {"float_state": ram.FALLING, "y": 260}


def paid(walk, *steps):
    return [walk.to(x, **how)["distance"] for x, how in steps]


def test_a_fall_to_his_death_takes_back_what_it_covered():
    walk = Walk()
    on_the_ground, fall = [(50, {}), (60, {})], [(70, IN_THE_AIR), (80, IN_THE_AIR), (90, DOWN_A_PIT)]
    assert paid(walk, *on_the_ground, *fall) == [10, 10, 10, 10, -20]
    walk = Walk(falls_pay=True)
    assert paid(walk, *on_the_ground, *fall) == [10] * 5


def test_a_jump_that_ends_on_the_ground_keeps_what_it_covered():
    walk = Walk()
    assert paid(walk, (50, {"float_state": ram.JUMPING}), (60, IN_THE_AIR), (70, {}), (80, DOWN_A_PIT)) == [
        10,
        10,
        10,
        0,
    ]


def test_only_falls_take_back():
    walk = Walk()
    assert paid(walk, (50, IN_THE_AIR), (60, {**IN_THE_AIR, "task": ram.TASK_DYING})) == [10, 10], "an enemy"
    walk = Walk()
    assert paid(walk, (50, IN_THE_AIR), (60, {**DOWN_A_PIT, "clouds": 1})) == [10, 10], "out of the clouds"
    walk = Walk()
    swimming = {**IN_THE_AIR, "swimming": 1}
    assert paid(walk, (50, swimming), (60, swimming), (70, {**swimming, **DOWN_A_PIT})) == [10, 10, 0], (
        "water holds him up"
    )


def test_a_fall_is_taken_back_once():
    walk = Walk()
    paid(walk, (50, IN_THE_AIR), (60, DOWN_A_PIT))
    assert paid(walk, (60, {"task": ram.TASK_LIFE_LOST, **DOWN_A_PIT})) == [0]
    walk.arrives(40)
    assert paid(walk, (50, IN_THE_AIR), (60, DOWN_A_PIT)) == [10, -10]


def test_a_fall_to_the_left_costs_nothing_either():
    assert sum(paid(Walk(), (32, IN_THE_AIR), (24, IN_THE_AIR), (16, DOWN_A_PIT))) == 0


def test_he_falls_on_for_nothing():
    walk = Walk(milestone_pixels=10)
    walk.to(50, **DOWN_A_PIT)
    falling_on = [walk.to(x, **{**DOWN_A_PIT, "y": y}) for x, y in ((60, 400), (70, 600))]
    assert [step["distance"] for step in falling_on] == [0, 0]
    assert [step["milestone"] for step in falling_on] == [0, 0]
    assert walk.told()["x"] == 50.0


def test_a_new_life_owes_nothing():
    walk = Walk(1_000)
    walk.to(1_010 - 1_024)  # a maze
    walk.to(-14, task=ram.TASK_DYING, **IN_THE_AIR)
    walk.arrives(40)
    assert paid(walk, (50, {}), (60, {})) == [10, 10]
    walk = Walk()
    assert paid(walk, (50, IN_THE_AIR), (60, {**IN_THE_AIR, "task": ram.TASK_DYING})) == [10, 10], "an enemy"
    walk.arrives(200)
    assert paid(walk, (200, DOWN_A_PIT)) == [0], "what the last life covered in the air is not taken back in this one"


def test_who_grows_in_the_air_is_still_in_the_air():
    walk = Walk()
    walk.to(50, **IN_THE_AIR)
    walk.arrives(50, **IN_THE_AIR)
    assert paid(walk, (60, DOWN_A_PIT)) == [-10]


def test_milestones_pay_once():
    walk = Walk(40)
    passed = [walk.to(x)["milestone"] for x in (60, 80, 100, 120, 139, 145, 130, 125, 141, 150)]
    assert passed == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_stalling_is_not_getting_any_further():
    walk = Walk()
    for x in (50, 45, 50, 48):
        walk.to(x)
    assert walk.progress.stalled.tolist() == [3]
    walk.to(51)
    assert walk.progress.stalled.tolist() == [0]


def test_while_an_end_plays_out_nobody_stalls():
    walk = Walk()
    for task in (4, 5, 5, 5):
        walk.to(40, task=task)
    assert walk.progress.stalled.tolist() == [0]


def test_a_game_that_is_over_leads_nowhere():
    walk = Walk()
    walk.to(50, **DOWN_A_PIT)
    walk.arrives(170, mode=ram.MODE_GAME_OVER)
    walk.to(170, mode=ram.MODE_GAME_OVER)
    assert walk.told()["x"] == 50.0


def test_the_clock_counts_while_it_runs():
    walk = Walk()
    assert walk.to(40, clock=399)["time"] == 1
    assert walk.to(40, clock=399)["time"] == 0
    assert walk.to(40, clock=300)["time"] == 0, "it was set"
    assert walk.to(40, clock=400)["time"] == 0
    assert walk.to(40, clock=399, task=ram.TASK_FLAGPOLE)["time"] == 1
    assert walk.to(40, clock=395, task=ram.TASK_WALKING_OFF)["time"] == 0, "it is turned into points"


def test_flags_and_deaths_count_once():
    walk = Walk()
    flags = [walk.to(40, task=task)["flag"] for task in (4, 4, 5, 5, 0, 7, 8, 4)]
    assert flags == [1, 0, 0, 0, 0, 0, 0, 1]
    walk = Walk()
    deaths = [walk.to(40, task=task)["death"] for task in (11, 11, 6, 0, 7, 8, 11)]
    assert deaths == [1, 0, 0, 0, 0, 0, 1]


def test_it_is_saveable():
    def advance(walk):
        """A fall out of the jump that the last one ended in, a new life, a walk, and another jump."""
        walk.to(int(walk.facts.x[0]) + 7, **DOWN_A_PIT)
        walk.arrives(40)
        for x in range(47, 100, 7):
            walk.to(x)
        walk.to(110, **IN_THE_AIR)

    class Saved(Walk):
        def __init__(self):
            super().__init__()
            self.distances = []

        def to(self, x, **bytes_at):
            self.distances.append(super().to(x, **bytes_at)["distance"])

        def state(self):
            return {"progress": self.progress.state(), "x": int(self.facts.x[0]), "distances": list(self.distances)}

        def restore(self, state):
            self.facts = self._facts(state["x"], {})
            self.progress.restore(state["progress"])
            self.distances = list(state["distances"])

    check_saveable(Saved, advance, lambda walk: (freeze(walk.progress.state()), tuple(walk.distances)))


def test_the_games_plain_reward_is_added_up_whatever_is_paid_for():
    walk = Walk()
    paid(
        walk,
        (50, {}),
        (46, {}),
        (60, {"clock": 398}),
        (70, {**IN_THE_AIR, "clock": 398}),
        (80, {**DOWN_A_PIT, "clock": 397}),
    )
    assert walk.told()["raw_return"] == 40 - 3 - 15  # what a fall takes back elsewhere is not taken back here
    walk.progress.begin(FIRST, FIRST, walk.facts)
    assert walk.told()["raw_return"] == 0.0
    older = {name: part for name, part in walk.progress.state().items() if name != "raw"}
    walk.progress.restore(older)


def test_a_step_is_counted_by_new_ground_and_by_who_stands():
    walk = Walk()

    def counts(x):
        walk.to(x)
        return walk.progress.counts()

    assert counts(50) == {"forward": 1.0, "new_ground": 10.0, "stalled": 0.0}
    for x in (46, 49) * 29:  # to and fro, within what is known
        assert counts(x) == {"forward": 0.0, "new_ground": 0.0, "stalled": 0.0}
    assert counts(46)["stalled"] == 0.0 and counts(50)["stalled"] == 1.0  # four seconds of four frames each
    assert counts(53) == {"forward": 1.0, "new_ground": 3.0, "stalled": 0.0}
