import os
import signal
import threading

import numpy as np
import pytest
from little_games import HELD, HELD2, LITTLE, PLACE, VBLANKS, WITH_TILE_RAM, little_rom, real_game

from respawn.errors import ConfigError
from respawn.worlds.mario._engine import Cartridge, Console
from respawn.worlds.mario.engine import Pool, PoolConfig

LANES = 5
GAMES = {"little": lambda: LITTLE, "little with tile RAM": lambda: WITH_TILE_RAM, "real": real_game}
WATCHED = (HELD, PLACE, 0x0800 + VBLANKS)
NO_PICTURES = PoolConfig(LANES, kind="none")


@pytest.fixture(params=GAMES)
def game(request):
    return Cartridge(GAMES[request.param]())


def pool(config=None, **settings):
    return Pool(Cartridge(LITTLE), config or PoolConfig(**({"lanes": LANES, "watch": WATCHED} | settings)))


def held(random, lanes=LANES):
    return random.integers(0, 256, lanes, dtype=np.uint8)


def play(lanes, steps, seed=0):
    """Random play with restarts; everything a caller can get to see."""
    random, frames = np.random.default_rng(seed), lanes.new_frames()
    ram, seen = lanes.new_ram(), []
    for step in range(steps):
        restart = np.where(random.random(LANES) < 0.2, 1, -1).astype(np.int32) if step > 5 else None
        lanes.step(random.integers(0, 256, (LANES, 2), dtype=np.uint8), frames, ram, restart)
        seen.append(frames.tobytes() + ram.tobytes())
        if step == 5:
            lanes.set_starts(lanes.save_states([0, 3]), frames[[0, 3]])
    return [*seen, lanes.save_states(range(LANES)).tobytes()]


class TestStep:
    @pytest.mark.parametrize(
        ("kind", "max_of_two"), [("grey", False), ("grey", True), ("rgb", False), ("rgb", True), ("indices", False)]
    )
    def test_does_what_single_consoles_do(self, game, kind, max_of_two):
        lanes = Pool(game, PoolConfig(2, kind=kind, height=240, width=256, stack=3, max_of_two=max_of_two))
        consoles = [Console(game) for _ in range(2)]
        frames, random = lanes.new_frames(), np.random.default_rng(2)
        shown = {
            "grey": lambda console: console.grey(240, 256),
            "rgb": lambda console: console.rgb(),
            "indices": lambda console: console.indices(),
        }[kind]
        history = [[np.zeros(lanes.frame_shape[1:], np.uint8)] * 3 for _ in range(2)]
        for _ in range(12):
            buttons = held(random, 2)
            lanes.step(buttons, frames)
            for console, pictures, pressed in zip(consoles, history, buttons, strict=True):
                last_two = []
                for _ in range(4):
                    console.frame(int(pressed), draw=True)
                    last_two = [*last_two[-1:], shown(console)]
                pictures[:] = [*pictures[1:], np.maximum(*last_two) if max_of_two else last_two[1]]
            assert np.array_equal(frames, history)
        states = lanes.save_states([0, 1])
        assert [state.tobytes() for state in states] == [console.save()[32:] for console in consoles]

    def test_grey_of_a_size(self, game):
        lanes, console = Pool(game, PoolConfig(1, height=84, width=60, stack=1)), Console(game)
        frames = lanes.new_frames()
        for _ in range(10):
            lanes.step(np.array([9], np.uint8), frames)
            for _ in range(4):
                console.frame(9, draw=True)
        assert np.array_equal(frames[0, 0], console.grey(84, 60))

    @pytest.mark.parametrize("threads", [2, 5])
    @pytest.mark.parametrize("kind", ["grey", "rgb"])
    def test_threads_change_nothing(self, game, threads, kind):
        settings = {"lanes": LANES, "kind": kind, "watch": WATCHED}
        alone = play(Pool(game, PoolConfig(**settings)), 20)
        assert play(Pool(game, PoolConfig(**settings, threads=threads)), 20) == alone

    def test_skip_is_frames_a_step(self):
        for skip in (1, 3):
            lanes = pool(skip=skip, kind="none")
            for _ in range(12 // skip):
                lanes.step(np.zeros(LANES, np.uint8))
            console = Console(Cartridge(LITTLE))
            for _ in range(12):
                console.frame()
            assert lanes.save_states([4])[0].tobytes() == console.save()[32:]

    def test_watches_ram(self):
        lanes = pool()
        ram = lanes.new_ram()
        buttons = np.array([1, 2, 4, 8, 128], np.uint8)
        for _ in range(6):
            lanes.step(buttons, ram=ram)
        assert ram[:, 0].tolist() == [128, 64, 32, 16, 1]
        assert set(ram[:, 2].tolist()) == {ram[0, 2]} and ram[0, 2] > 10
        again = lanes.new_ram()
        lanes.observe(ram=again)
        assert np.array_equal(ram, again)

    def test_second_controller(self):
        lanes = pool(watch=(HELD, HELD2))
        ram = lanes.new_ram()
        for _ in range(4):
            lanes.step(np.array([[1, 2]] * LANES, np.uint8), None, ram)
        assert ram.tolist() == [[128, 64]] * LANES
        lanes.step(np.array([1] * LANES, np.uint8), None, ram)
        assert ram.tolist() == [[128, 0]] * LANES

    def test_pictures_nobody_took_are_still_there(self):
        shown, unseen = pool(), pool()
        frames, random = shown.new_frames(), np.random.default_rng(0)
        for _ in range(9):
            buttons = held(random)
            shown.step(buttons, frames)
            unseen.step(buttons)
        later = unseen.new_frames()
        unseen.observe(later)
        assert np.array_equal(frames, later)


class TestStates:
    def test_a_lane_goes_on_from_what_was_saved(self, game):
        lanes = Pool(game, PoolConfig(LANES, watch=WATCHED))
        random, frames, ram = np.random.default_rng(4), lanes.new_frames(), lanes.new_ram()
        for _ in range(15):
            lanes.step(held(random))
        states, pictures = lanes.save_states([3, 1]), lanes.save_frames([3, 1])
        buttons = held(random)
        lanes.step(buttons, frames, ram)
        lanes.load_states([1, 3], states[::-1].copy())
        lanes.load_frames([1, 3], pictures[::-1].copy())
        frames2, ram2 = lanes.new_frames(), lanes.new_ram()
        lanes.step(buttons, frames2, ram2)
        assert np.array_equal(frames[[1, 3]], frames2[[1, 3]]) and np.array_equal(ram[[1, 3]], ram2[[1, 3]])
        assert not np.array_equal(lanes.save_states([0]), lanes.save_states([1]))

    def test_loading_a_state_blackens_the_pictures(self):
        lanes = pool()
        frames = lanes.new_frames()
        for _ in range(20):
            lanes.step(np.full(LANES, 3, np.uint8), frames)
        assert frames.any(axis=(2, 3)).all()
        lanes.load_states([2], lanes.save_states([0]))
        lanes.observe(frames)
        assert frames.any(axis=(1, 2, 3)).tolist() == [True, True, False, True, True]

    @pytest.mark.parametrize("with_frames", [True, False])
    def test_restarts_from_the_table(self, with_frames):
        lanes = pool()
        frames, random = lanes.new_frames(), np.random.default_rng(6)
        for _ in range(20):
            lanes.step(held(random), frames)
        table, pictures = lanes.save_states([0, 1]), frames[:2].copy()
        lanes.set_starts(table, pictures if with_frames else None)
        table[:] = 0  # the pool has its own copy
        for _ in range(7):
            lanes.step(held(random), frames)
        buttons = np.full(LANES, 5, np.uint8)
        lanes.step(buttons, frames, restart=np.array([-1, 0, 1, -1, 0], np.int32))
        assert np.array_equal(frames[1], frames[4]) and not np.array_equal(frames[1], frames[0])
        older = pictures[[0, 1, 0], 1:] if with_frames else np.zeros_like(pictures[[0, 1, 0], 1:])
        assert np.array_equal(frames[[1, 2, 4], :3], older)
        lanes.load([3], [1])
        lanes.observe(frames)
        assert np.array_equal(frames[3], pictures[1] if with_frames else np.zeros_like(pictures[1]))

    def test_made_up_states_are_refused(self):
        lanes = pool()
        before = lanes.save_states(range(LANES))
        bad = before[:2].copy()
        bad[1] = 255
        for call in (lambda: lanes.load_states([0, 1], bad), lambda: lanes.set_starts(bad)):
            with pytest.raises(ValueError, match="state 1 is none that this engine has saved"):
                call()
        assert np.array_equal(lanes.save_states(range(LANES)), before)


def frames_of(*shape, dtype=np.uint8):
    return np.zeros(shape, dtype)


def read_only(array):
    array.flags.writeable = False
    return array


OK = np.zeros(LANES, np.uint8)
SEEN = (LANES, 4, 84, 84)


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ((OK[:4],), ValueError, r"buttons must have shape \(5,\) or \(5, 2\), but has \(4,\)"),
            ((frames_of(5, 3),), ValueError, r"buttons must have shape \(5,\) or \(5, 2\), but has \(5, 3\)"),
            ((OK.astype(np.int64),), TypeError, "buttons must be uint8, but is int64"),
            ((OK.astype(bool),), TypeError, "buttons must be uint8, but is bool"),
            (([0] * 5,), TypeError, "buttons must be a NumPy array of uint8, but a list came"),
            ((None,), TypeError, "buttons must be a NumPy array of uint8, but a NoneType came"),
            ((frames_of(10)[::2],), ValueError, "buttons must lie in memory without gaps"),
            ((OK, frames_of(5, 84, 84)), ValueError, r"frames must have shape \(5, 4, 84, 84\), but has \(5, 84, 84\)"),
            ((OK, frames_of(*SEEN, dtype=np.float32)), TypeError, "frames must be uint8, but is float32"),
            (
                (OK, frames_of(5, 4, 84, 168)[..., ::2]),
                ValueError,
                "frames must lie in memory without gaps, in C order",
            ),
            ((OK, frames_of(84, 84, 4, 5).T), ValueError, "frames must lie in memory without gaps, in C order"),
            ((OK, read_only(frames_of(*SEEN))), ValueError, "frames is written to, but the array is read-only"),
            ((OK, None, frames_of(5, 2)), ValueError, r"ram must have shape \(5, 3\), but has \(5, 2\)"),
            ((OK, None, frames_of(5, 3, dtype=np.int8)), TypeError, "ram must be uint8, but is int8"),
            ((OK, None, None, OK), TypeError, "restart must be int32, but is uint8"),
            ((OK, None, None, frames_of(5, dtype=">i4")), TypeError, "restart must be int32, but is >i4"),
            ((OK, None, None, frames_of(4, dtype=np.int32)), ValueError, r"restart must have shape \(5,\)"),
            ((OK, None, None, frames_of(21)[1:].view(np.int32)), ValueError, "restart must begin at a multiple of"),
            (
                (OK, None, None, frames_of(5, dtype=np.int32)),
                ValueError,
                "there is no table of starts yet",
            ),
        ],
    )
    def test_of_a_step(self, arguments, error, says):
        lanes = pool()
        before = lanes.save_states(range(LANES))
        with pytest.raises(error, match=says):
            lanes.step(*arguments)
        assert np.array_equal(lanes.save_states(range(LANES)), before)

    @pytest.mark.parametrize(
        ("call", "error", "says"),
        [
            (lambda p: p.step(OK, frames_of(*SEEN)), ValueError, "shows no pictures .*, so frames must be None"),
            (lambda p: p.step(OK, None, frames_of(5, 1)), ValueError, "watches no addresses .*, so ram must be None"),
            (lambda p: p.new_frames(), ConfigError, "shows no pictures"),
            (lambda p: p.new_ram(), ConfigError, "watches no addresses"),
            (lambda p: p.save_states([5]), ValueError, "a lane must be 0 to 4, but is 5"),
            (lambda p: p.save_states([-1]), ValueError, "a lane must be 0 to 4, but is -1"),
            (
                lambda p: p.save_states([0], frames_of(1, 9)),
                ValueError,
                r"out must have shape \(1, \d+\), but has \(1, 9\)",
            ),
            (
                lambda p: p.load_states([0], frames_of(9)),
                ValueError,
                r"states must have shape \(1, \d+\), but has \(9,\)",
            ),
            (lambda p: p.set_starts(frames_of(2, 9)), ValueError, r"states must have shape \(any, \d+\)"),
            (lambda p: p.load([0], [0]), ValueError, "there is no table of starts yet"),
            (lambda p: p.load([0, 1], [0]), ValueError, r"starts must have shape \(2,\), but has \(1,\)"),
            (lambda p: p.load(OK, OK), TypeError, "lanes must be int32, but is uint8"),
            (lambda p: p.save_states([0.5]), ValueError, r"whole numbers, none of them huge, and \[0.5\] came"),
            (lambda p: p.save_states([2**40]), ValueError, "lanes and starts are whole numbers"),
            (lambda p: p.save_states(["a"]), ValueError, "lanes and starts are whole numbers"),
            (lambda p: p.save_states([True]), ValueError, "lanes and starts are whole numbers"),
            (lambda p: p.save_states(0), TypeError, r"lists of whole numbers, such as \[0\], and 0 came"),
            (lambda p: p.save_states(np.int32(0)), TypeError, "lists of whole numbers"),
            (lambda p: p.save_states(np.array(0, np.int32)), TypeError, "lists of whole numbers"),
        ],
    )
    def test_of_other_calls(self, call, error, says):
        with pytest.raises(error, match=says):
            call(pool(NO_PICTURES))

    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            ({"lanes": 0}, "lanes must be 1 to 65536, but is 0"),
            ({"threads": 0}, "threads must be 1 to 256, but is 0"),
            ({"skip": 0}, "skip must be 1 to 256, but is 0"),
            ({"stack": 65}, "stack must be 1 to 64, but is 65"),
            ({"kind": "colour"}, "kind must be 'none', 'grey', 'rgb' or 'indices', and 'colour' came"),
            ({"height": 0}, "the height of a grey picture must be 1 to 1024 pixels, but is 0"),
            ({"max_of_two": True, "skip": 1}, "max_of_two takes the last two frames of a step, but skip is 1"),
            ({"max_of_two": True, "kind": "indices"}, "max_of_two compares brightness"),
            ({"watch": (0x2000,)}, "only RAM can be watched, addresses 0 to 8191, and 8192 came"),
            ({"watch": (-1,)}, "only RAM can be watched, addresses 0 to 8191, and -1 came"),
            ({"watch": (1.5,)}, "only RAM can be watched, addresses 0 to 8191, and 1.5 came"),
            ({"watch": 5}, "watch must be a tuple of addresses of RAM, and 5 came"),
            ({"watch": ("a",)}, "only RAM can be watched, addresses 0 to 8191, and 'a' came"),
            ({"kind": 5}, "kind must be 'none', 'grey', 'rgb' or 'indices', and 5 came"),
            ({"kind": "rgb", "height": 60}, "kind 'rgb' has the screen's height, 240, and 60 came; leave it out"),
            ({"kind": "indices", "width": 240}, "kind 'indices' has the screen's width, 256, and 240 came"),
            ({"kind": "none", "max_of_two": True}, "max_of_two is about pictures, and kind 'none' shows none"),
            ({"max_of_two": 1}, "max_of_two must be True or False, and 1 came"),
            ({"interpret": "no"}, "interpret must be True or False, and 'no' came"),
            ({"lanes": True}, "lanes must be a whole number that is not huge, and True came"),
            ({"lanes": 2.5}, "lanes must be a whole number that is not huge, and 2.5 came"),
            ({"skip": 2**40}, f"skip must be a whole number that is not huge, and {2**40} came"),
            ({"lanes": 65536, "stack": 64, "kind": "rgb"}, "not enough memory for 65,536 consoles with 64 pictures"),
        ],
    )
    def test_of_a_pool(self, settings, says):
        with pytest.raises(ConfigError, match=says):
            pool(**settings)

    @pytest.mark.parametrize("count", [-1, 1.5, "a", 10**12])
    def test_of_a_count(self, count):
        with pytest.raises(ValueError, match=f"count must be a whole number of lanes, 0 or more, and {count!r} came"):
            pool().new_frames(count)

    def test_of_other_things_than_a_cartridge_and_a_config(self):
        with pytest.raises(
            TypeError, match=r"a pool plays a Cartridge, and an object of type Rom came; pass open_cartridge\(find_rom"
        ):
            Pool(little_rom(), NO_PICTURES)
        with pytest.raises(TypeError, match="a pool takes a PoolConfig, and an object of type int came"):
            Pool(Cartridge(LITTLE), 5)

    @pytest.mark.parametrize("kind", ["rgb", "indices"])
    def test_the_screen_may_be_named(self, kind):
        assert pool(kind=kind, height=240, width=256).frame_shape == pool(kind=kind).frame_shape


class TestProcesses:
    def test_two_threads_take_turns(self):
        lanes, calm = pool(threads=2), pool()

        def call():
            for _ in range(30):
                lanes.step(OK)

        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for _ in range(60):
            calm.step(OK)
        assert np.array_equal(lanes.save_states(range(LANES)), calm.save_states(range(LANES)))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_works_on_in_the_child_of_a_fork(self):
        lanes = pool(threads=3)
        lanes.step(OK)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a child that hangs must not outlive the test
            lanes.step(OK)
            del lanes
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        lanes.step(OK)
