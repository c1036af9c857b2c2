import numpy as np

from respawn.worlds.mario import ram
from respawn.worlds.mario.progress import Progress
from respawn.worlds.mario.ram import WATCHED, read_facts


def facts_in_area(layout):
    rows = np.zeros((1, len(WATCHED)), np.uint8)
    rows[0, ram.columns(ram.LAYOUT_LOW, 2)] = layout
    return read_facts(rows)


def test_an_end_elsewhere_is_told_from_one_where_the_episode_began():
    progress = Progress(num_lanes=1, frame_skip=4, milestone_pixels=256)
    lane = np.zeros(1, np.int32)
    progress.begin(lane, lane, facts_in_area((144, 166)))
    ends = [progress.facts(0, 0, facts_in_area(layout), "1-1") for layout in ((144, 166), (144, 167), (55, 166))]
    assert [end["in_first_area"] for end in ends] == [1.0, 0.0, 0.0]
    restored = Progress(num_lanes=1, frame_skip=4, milestone_pixels=256)
    restored.restore(progress.state())
    assert restored.facts(0, 0, facts_in_area((144, 166)), "1-1")["in_first_area"] == 1.0
