from dataclasses import replace

import numpy as np
import pytest

from respawn.worlds.mario.buttons import ACTION_SETS, BUTTONS
from respawn.worlds.mario.gamepad import draw_gamepad
from respawn.worlds.mario.panel import HEIGHT, SCALE, WIDTH, Moment, Panel

RIGHT_SET = ACTION_SETS["right"]
PICTURE = np.random.default_rng(0).integers(0, 256, (240, 256, 3), np.uint8)
MOMENT = Moment(
    action=1, buttons=BUTTONS["RIGHT"], probabilities=[0.1, 0.5, 0.2, 0.1, 0.1], value=1.0, level="1-1", x=40, step=0
)
BARS = slice(220, 366)


def side(moment, panel=None):
    panel = panel or Panel(RIGHT_SET)
    panel.tell(moment)
    return panel.frame(PICTURE)[:, 256 * SCALE :].astype(int)


def yellow(picture):
    """How many pixels have the colour of what was chosen."""
    return int((np.abs(picture - (255, 196, 61)).sum(-1) < 30).sum())


def test_the_game_is_doubled_and_the_panel_stands_beside_it():
    panel = Panel(RIGHT_SET)
    panel.tell(MOMENT)
    frame = panel.frame(PICTURE)
    assert frame.shape == (HEIGHT, 512 + WIDTH, 3) and frame.dtype == np.uint8
    for row, column in ((0, 0), (1, 1)):
        assert (frame[row:480:SCALE, column:512:SCALE] == PICTURE).all()


@pytest.mark.parametrize("buttons", BUTTONS)
def test_each_button_lights_up_somewhere_else(buttons):
    dark = np.asarray(draw_gamepad(0, 228, (0, 0, 0))).astype(int)
    lit = {
        name: np.abs(np.asarray(draw_gamepad(bit, 228, (0, 0, 0))).astype(int) - dark).sum(-1) > 60
        for name, bit in BUTTONS.items()
    }
    mine = lit.pop(buttons)
    assert mine.sum() > 100
    assert not any((mine & other).any() for other in lit.values())


def test_places_of_the_buttons_are_those_of_a_controller():
    dark = np.asarray(draw_gamepad(0, 228, (0, 0, 0))).astype(int)

    def place(name):
        lit = np.abs(np.asarray(draw_gamepad(BUTTONS[name], 228, (0, 0, 0))).astype(int) - dark).sum(-1) > 60
        return np.argwhere(lit).mean(0)

    order = ["LEFT", "UP", "RIGHT", "SELECT", "START", "B", "A"]
    columns = [place(name)[1] for name in order]
    assert columns == sorted(columns)
    assert place("UP")[0] < place("LEFT")[0] < place("DOWN")[0]


def test_the_bar_of_the_chosen_action_is_as_long_as_it_is_likely():
    some = yellow(side(MOMENT)[BARS])
    more = yellow(side(replace(MOMENT, probabilities=[0.0, 1.0, 0.0, 0.0, 0.0]))[BARS])
    none = yellow(side(replace(MOMENT, probabilities=[1.0, 0.0, 0.0, 0.0, 0.0]))[BARS])
    assert none == 0 and more == pytest.approx(2 * some, rel=0.05) and some > 300


def test_a_sticky_step_is_said_to_be_one():
    assert yellow(side(MOMENT)[192:212]) > 20
    assert yellow(side(replace(MOMENT, buttons=BUTTONS["LEFT"]))[192:212]) == 0


def test_facts_change_the_picture_where_they_stand():
    before = side(MOMENT)
    for changed, rows in (
        (replace(MOMENT, x=41), slice(64, 84)),
        (replace(MOMENT, step=7), slice(64, 84)),
        (replace(MOMENT, time=399), slice(50, 84)),
        (replace(MOMENT, level="8-4"), slice(10, 40)),
        (replace(MOMENT, value=2.5), slice(378, 400)),
    ):
        after = side(changed)
        differing = np.flatnonzero((after != before).any((1, 2)))
        assert differing.size and rows.start <= differing[0] and differing[-1] < rows.stop, changed


def test_the_curve_goes_the_way_of_the_values_and_begins_anew_with_an_episode():
    panel = Panel(RIGHT_SET)
    for step in range(60):
        picture = side(replace(MOMENT, step=step, value=float(step)), panel)
    green = np.argwhere(np.abs(picture[402:457] - (102, 204, 153)).sum(-1) < 30)
    left, right = green[green[:, 1] < green[:, 1].mean()], green[green[:, 1] > green[:, 1].mean()]
    assert left[:, 0].mean() > right[:, 0].mean() + 15, "higher values stand higher"
    again = side(replace(MOMENT, step=0), panel)
    assert (again == side(MOMENT)).all()


def test_the_end_is_written_over_the_game_in_its_colour():
    def game(end):
        panel = Panel(RIGHT_SET)
        panel.tell(MOMENT)
        if end:
            panel.close(end)
        return panel.frame(np.zeros_like(PICTURE))[:, :512].astype(int)

    flag, pit = game("flag"), game("pit")
    assert (flag[..., 1] - flag[..., 0]).max() > 100 and (pit[..., 0] - pit[..., 1]).max() > 100
    assert not game(None).any()


def test_the_next_step_takes_the_end_away():
    panel = Panel(RIGHT_SET)
    panel.tell(MOMENT)
    before = panel.frame(PICTURE)
    panel.close("pit")
    assert (panel.frame(PICTURE) != before).any()
    panel.tell(MOMENT)
    assert (panel.frame(PICTURE)[:, :512] == before[:, :512]).all()


@pytest.mark.parametrize("name", ACTION_SETS)
def test_every_action_set_has_room(name):
    actions = ACTION_SETS[name]
    panel = Panel(actions)
    panel.tell(replace(MOMENT, action=0, buttons=0, probabilities=[1 / len(actions)] * len(actions)))
    assert panel.frame(PICTURE).shape == (HEIGHT, 768, 3)
