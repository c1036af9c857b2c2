"""Pictures of tanks: what is where, in which colour."""

import numpy as np
import pytest
import torch
from PIL import Image

from respawn.errors import VideoError
from respawn.evaluation.terminal import HalfBlocks
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.draw import draw_tank
from respawn.worlds.fish.painter import TRAIL_STEPS, TankPainter
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.world import FishWorld, school_seeds

SIZE = 512
RIM = 0.6


def tank(fish, predator=(-8.0, 0.0, 0.0, 0.0), step=0):
    """A school of these fish (x, y, vx, vy)."""
    swarm = SwarmState.empty(1, len(fish), torch.device("cpu"))
    swarm.fish[:, 0] = torch.tensor(fish).T
    swarm.predator[:, 0] = torch.tensor(predator)
    swarm.alive[:] = True
    swarm.sizes[:] = len(fish)
    swarm.steps[:] = step
    return swarm


def pixel(frame, x, y):
    """What a frame shows at a place of the tank; a painter's frame has a header above it."""
    unit = SIZE / 2 / (10 + RIM)
    header = frame.shape[0] - SIZE
    return frame[round(header + SIZE / 2 - unit * y), round(SIZE / 2 + unit * x)].astype(int)


def is_fish(colour):
    return colour[0] > 200 and colour[1] > 150 and colour[2] < 140


def is_red(colour):
    return colour[0] > 180 and colour[1] < 130


def is_water(colour):
    return colour[2] > colour[0] + 20 and colour[0] < 60


def test_everything_is_where_it_is_and_up_is_up():
    frame = draw_tank(tank([(3.0, 4.0, 1.0, 0.0)], predator=(-2.0, 5.0, 0.0, 1.0)))
    assert frame.shape == (SIZE, SIZE, 3) and frame.dtype == np.uint8
    assert is_fish(pixel(frame, 3.0, 4.0)) and is_red(pixel(frame, -2.0, 5.0))
    assert is_water(pixel(frame, 3.0, -4.0)) and is_water(pixel(frame, -2.0, -5.0))
    assert max(pixel(frame, 7.3, 7.3)) < 40  # outside the wall
    reach = max(pixel(frame, -2.0 + distance, 5.0)[0] for distance in (0.66, 0.68, 0.7))
    assert reach > 80 and is_water(pixel(frame, -1.1, 5.0))


@pytest.mark.parametrize(("vx", "vy"), [(1, 0), (0, 1), (-1, 0), (0, -1), (0.0, 0.001)])
def test_fish_point_to_where_they_swim(vx, vy):
    frame = draw_tank(tank([(0.0, 0.0, float(vx), float(vy))]))
    if abs(vx) + abs(vy) < 0.01:
        vx, vy = 1, 0  # what hardly moves faces +x, as it would swim
    assert is_fish(pixel(frame, 0.22 * vx, 0.22 * vy)) and not is_fish(pixel(frame, -0.3 * vx, -0.3 * vy))


def test_the_dead_are_not_drawn():
    swarm = tank([(3.0, 4.0, 1.0, 0.0), (0.0, 0.0, 1.0, 0.0)])
    swarm.alive[0, 0] = False
    frame = draw_tank(swarm)
    assert is_water(pixel(frame, 3.0, 4.0)) and is_fish(pixel(frame, 0.0, 0.0))


def test_small_pictures_still_show_fish():
    small = draw_tank(tank([(3.0, 4.0, 1.0, 0.0)]), size=64)
    assert small.shape == (64, 64, 3) and sum(is_fish(colour) for colour in small.reshape(-1, 3).astype(int)) >= 3


def test_legacy_is_the_picture_of_the_reference():
    swarm = tank([(5.0, 5.0, 1.0, 0.0)], predator=(-5.0, -5.0, 0.0, 0.0))
    frame = draw_tank(swarm, legacy=True)
    assert frame.shape == (800, 800, 3)
    assert frame[200, 600].tolist() == [0, 150, 255] and frame[600, 200].tolist() == [255, 0, 0]
    assert frame[400, 400].tolist() == [255] * 3 and frame[400, 1].tolist() == [200] * 3
    assert frame[200, 607].tolist() == [255] * 3 and frame[600, 209].tolist() == [255, 0, 0]
    painted = TankPainter(legacy=True).paint(swarm)
    assert np.array_equal(painted[100:], frame[100:]) and (painted[:60, :200] == 0).any()


def test_a_trail_shows_where_a_fish_has_been_and_fades():
    painter = TankPainter()
    empty = pixel(painter.paint(tank([(-6.0, -3.0, 1.0, 0.0)])), 0.0, -3.0)
    brightness = []
    for step in range(1, 61):
        frame = painter.paint(tank([(-6.0 + 0.2 * step, -3.0, 2.0, 0.0)], step=step))
        brightness.append(int(pixel(frame, 0.0, -3.0).sum() - empty.sum()))
    assert brightness[25] == 0 and brightness[34] > 60  # before it comes, and soon after it passed
    assert brightness[34] > brightness[40] > brightness[48] > 0
    assert abs(brightness[31 + TRAIL_STEPS]) < 25
    again = painter.paint(tank([(6.0, 3.0, 1.0, 0.0)]))
    assert np.array_equal(again, TankPainter().paint(tank([(6.0, 3.0, 1.0, 0.0)])))


def test_deaths_leave_a_mark_that_turns_grey_and_stays():
    painter = TankPainter()
    colours = []
    for step in range(100):
        swarm = tank([(3.0, 4.0, 1.0, 0.0), (0.0, -2.0, 1.0, 0.0)], step=step)
        swarm.alive[0, 0] = step < 2
        swarm.death_steps[0, 0] = 2 if step >= 2 else -1
        colours.append(pixel(painter.paint(swarm), 3.0, 4.0))
    assert is_fish(colours[1]) and is_red(colours[2])
    assert np.ptp(colours[60]) < 60 and colours[60].min() > 90 and np.array_equal(colours[60], colours[99])


def test_the_header_and_the_same_step_again():
    painter = TankPainter()
    with pytest.raises(VideoError, match="nothing was seen yet"):
        painter.picture()
    first = painter.paint(tank([(3.0, 4.0, 1.0, 0.0)], step=5), "seed 3000004")
    assert first.shape == (544, 512, 3) and (first[:32, :200].max() > 200) and (first[:32, 350:].max() > 120)
    painter.see(tank([(3.1, 4.0, 1.0, 0.0)], step=6))
    once, twice = painter.picture(), painter.paint(tank([(3.1, 4.0, 1.0, 0.0)], step=6))
    assert np.array_equal(once, twice) and not np.array_equal(once[32:], first[32:])
    assert all(side % 2 == 0 for side in TankPainter(300).paint(tank([(3.0, 4.0, 1.0, 0.0)])).shape[:2])


def test_the_tank_alone_is_the_same_tank():
    swarm = tank([(1.0, 2.0, 0.5, 0.0), (-3.0, 0.0, 0.0, 0.5)])
    alone = TankPainter(header=False).paint(swarm, "unseen")
    assert alone.shape == (SIZE, SIZE, 3) and (alone == TankPainter().paint(swarm)[-SIZE:]).all()


def test_a_skipped_step_begins_the_trails_anew():
    painter = TankPainter()
    painter.paint(tank([(-6.0, 0.0, 1.0, 0.0)], step=1))
    frame = painter.paint(tank([(6.0, 0.0, 1.0, 0.0)], step=3))
    assert is_water(pixel(frame, 0.0, 0.0))


def test_a_school_is_told_from_its_predator_in_a_small_terminal():
    world = FishWorld(FishConfig(fish=96), 96)
    world.reset(school_seeds([3000004], 96))
    painter = TankPainter()
    for _ in range(40):
        world.step(torch.full((96,), 4))
        painter.see(world.swarm)
    frame = painter.picture("seed 3000004")
    assert len(HalfBlocks(100, 50).draw(frame)) > 1000
    width = int(512 * 100 / 544)
    small = np.asarray(Image.fromarray(frame).resize((width, 100), Image.Resampling.BOX)).astype(int).reshape(-1, 3)
    yellow = (small[:, 0] > 130) & (small[:, 1] > 120) & (small[:, 2] < small[:, 1] - 20)
    red = (small[:, 0] > 190) & (small[:, 1] < 130)
    assert yellow.sum() > 60 and 3 < red.sum() < 100


def test_the_world_shows_this_picture():
    world = FishWorld(FishConfig(fish=3), 6)
    world.reset([1] * 6)
    assert np.array_equal(world.render(0), draw_tank(world.swarm)) and world.render(5).shape == (512, 512, 3)
