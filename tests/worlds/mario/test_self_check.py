from itertools import islice

import numpy as np
import pytest

from respawn.worlds.mario import self_check
from respawn.worlds.mario.engine import Cartridge, Console, Pool, simd_path, simd_paths
from respawn.worlds.mario.self_check import (
    CHECKS,
    check_code,
    check_engine,
    check_paths,
    check_states,
    check_threads,
    random_play,
)


@pytest.fixture(scope="module")
def cartridge():
    """A game that counts up, shows colours and does nothing else: LDA #$0A, STA $2001, INC $10, JMP."""
    program = bytes([0xA9, 0x0A, 0x8D, 0x01, 0x20, 0xE6, 0x10, 0x4C, 0x05, 0x80])
    prg = program.ljust(0x7FFA, b"\xea") + bytes([0x00, 0x80] * 3)
    return Cartridge(b"NES\x1a\x02\x01" + bytes(10) + prg + bytes(range(256)) * 32)


class Altered:
    """A console with one thing wrong; everything else is the real one's."""

    def __init__(self, cartridge):
        object.__setattr__(self, "real", Console(cartridge))
        object.__setattr__(self, "frames", 0)

    def __getattr__(self, name):
        return getattr(self.real, name)

    def __setattr__(self, name, value):
        setattr(self.real, name, value)


def first_difference(check, cartridge, comparisons=400):
    found = islice(check(cartridge), comparisons)
    return next((difference for _, difference in found if difference), None)


@pytest.mark.parametrize("check", [check_code, check_paths, check_threads, check_states])
def test_a_sound_engine_has_no_differences(cartridge, check):
    assert first_difference(check, cartridge, 40) is None


def test_code_that_differs_in_one_bit_is_found_and_the_field_named(cartridge, monkeypatch):
    class OffByOne(Altered):
        def frame(self, buttons=0):
            self.real.frame(buttons)
            object.__setattr__(self, "frames", self.frames + 1)
            if self.frames == 37 and not self.real.interpret:
                self.real.poke(0x0200, 1)

    monkeypatch.setattr(self_check, "Console", OffByOne)
    assert first_difference(check_code, cartridge) == "frame 36 of seed 0 differs in ram"


def test_a_path_that_draws_otherwise_is_found_and_named(cartridge, monkeypatch):
    other = next((path for path in simd_paths() if path != "plain"), None)
    if other is None:
        pytest.skip("this machine has one path")

    class Brighter(Altered):
        def grey(self, height, width):
            return self.real.grey(height, width) + (simd_path() == other and height == 60)

    before = simd_path()
    monkeypatch.setattr(self_check, "Console", Brighter)
    said = first_difference(check_paths, cartridge)
    assert said == f"frame 0 of seed 0 is not the same by {other} as by plain: grey 60x101"
    assert simd_path() == before


@pytest.mark.parametrize(
    ("wrong", "words"), [("frames", "step 0 of seed 0 shows other pictures"), ("states", "ends in another state")]
)
def test_threads_that_differ_are_found(cartridge, monkeypatch, wrong, words):
    class Careless(Pool):
        def step(self, buttons, frames):
            super().step(buttons, frames)
            if wrong == "frames" and self.threads == 2:
                frames[-1, -1, -1, -1] ^= 1

        def save_states(self, lanes):
            states = super().save_states(lanes)
            return states + np.uint8(wrong == "states" and self.threads == 2)

    monkeypatch.setattr(self_check, "Pool", Careless)
    assert words in first_difference(check_threads, cartridge)


def test_a_console_that_forgets_something_is_found(cartridge, monkeypatch):
    class Forgetful(Altered):
        def load(self, state):
            self.real.load(state)
            self.real.poke(0x0300, 7)

    monkeypatch.setattr(self_check, "Console", Forgetful)
    assert first_difference(check_states, cartridge) == "30 frames from frame 0 of seed 0 are not the same twice: state"


def test_all_checks_get_their_time_and_the_first_difference_ends_one(cartridge, monkeypatch):
    def endless(cartridge):
        while True:
            yield 5, None

    def wrong(cartridge):
        yield 5, None
        yield 0, "it differs"
        raise AssertionError("nobody should ask further")

    monkeypatch.setattr(self_check, "CHECKS", {"fine": (endless, 1.0), "bad": (wrong, 3.0)})
    told = []
    fine, bad = check_engine(cartridge, 0.02, lambda name, part: told.append((name, part)))
    assert fine.difference is None and fine.frames > 0 and fine.seconds >= 0.005
    assert (bad.name, bad.frames, bad.difference) == ("bad", 5, "it differs")
    parts = [part for _, part in told]
    assert parts == sorted(parts) and parts[-1] <= 1.0 and {name for name, _ in told} == {"fine", "bad"}


def test_code_is_only_checked_where_there_is_some(cartridge):
    names = [checked.name for checked in check_engine(cartridge, 0.01)]
    assert names == [name for name, (check, _) in CHECKS.items() if check is not check_code]


def test_random_play_presses_start_first_and_everything_later():
    play = list(random_play(5))
    assert len(play) == self_check.EPISODE_FRAMES and set(play[:120]) == {0, self_check.START}
    assert np.bitwise_or.reduce(play) == 0xFF and play == list(random_play(5)) != list(random_play(6))
