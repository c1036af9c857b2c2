"""How far each lane's episode has come: what a step added to it, and what is said about it in the end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from respawn.contracts.saveable import StateTree
from respawn.worlds.mario.limits import CLEARED, ENDS, Seen
from respawn.worlds.mario.ram import (
    MAZE_WARP_PIXELS,
    MODE_GAME_OVER,
    ON_FLAGPOLE,
    ON_GROUND,
    TASK_CONTROLLED,
    Integers,
    MarioFacts,
)
from respawn.worlds.mario.rewards import Counted

FRAMES_PER_SECOND = 60.0988
FASTEST_PIXELS = 6
"""Mario's own speed, a lift's and some to spare, a frame: whatever is faster was not walked."""
MOST_TICKS = 10
"""More than this many ticks of the clock at once are no time that passed: the clock was set."""
_ARRAYS = (
    "steps", "stalled", "furthest", "best", "covered", "owed", "loops", "flags", "first_score", "start", "ending",
    "frames", "home", "first_layout", "led_back", "flown", "raw",
)  # fmt: skip
_ADDED_LATER = frozenset({"raw"})
"""Arrays that checkpoints of older versions lack: there what has been added up so far is not known."""
STALLED_FRAMES = 240
"""Whoever has covered no new ground for so long, four seconds, is said to be stalled."""
RAW_DEATH = 15
"""What a death costs in the game's plain reward, as gym-super-mario-bros has it."""
_PLACE = ("world", "stage", "area", "layout")


class Progress:
    """One number a lane for everything that an episode adds up; int32 [B] each."""

    def __init__(self, num_lanes: int, frame_skip: int, milestone_pixels: int, *, falls_pay: bool = False) -> None:
        self._walkable = FASTEST_PIXELS * frame_skip
        self._frame_skip = frame_skip
        self._milestone_pixels = milestone_pixels
        self._falls_pay = falls_pay
        self.steps, self.stalled, self.loops, self.flags = (np.zeros(num_lanes, np.int32) for _ in range(4))
        self.furthest, self.best, self.covered, self.owed = (np.zeros(num_lanes, np.int32) for _ in range(4))
        self.first_score, self.start, self.frames, self.home = (np.zeros(num_lanes, np.int32) for _ in range(4))
        self.first_layout, self.flown, self.raw = (np.zeros(num_lanes, np.int32) for _ in range(3))
        self.ending = np.zeros(num_lanes, np.bool_)
        self.looped = np.zeros(num_lanes, np.bool_)
        self.led_back = np.zeros(num_lanes, np.bool_)  # by a pipe, since the last step
        self.left_level = np.zeros(num_lanes, np.bool_)
        self.gained = np.zeros(num_lanes, np.int32)  # pixels of new ground in the last step

    def begin(self, lanes: Integers, starts: Integers, facts: MarioFacts) -> None:
        """New episodes in some lanes, from these entries of the table of starts, whose facts these are."""
        for array in (self.steps, self.stalled, self.loops, self.flags, self.covered, self.owed):
            array[lanes] = 0
        self.frames[lanes] = self.flown[lanes] = self.raw[lanes] = 0
        self.ending[lanes] = self.led_back[lanes] = False
        self.furthest[lanes] = self.best[lanes] = facts.x
        self.first_score[lanes] = facts.score
        self.start[lanes] = starts
        self.home[lanes] = _level_number(facts)
        self.first_layout[lanes] = facts.layout

    def advance(self, before: MarioFacts, after: MarioFacts, seen: Seen) -> Counted:
        """Take note of one step and say what it added."""
        level_changed = (after.world != before.world) | (after.stage != before.stage)
        elsewhere = level_changed | (after.area != before.area) | (after.layout != before.layout)
        moved = after.x - before.x
        walked = np.abs(moved) <= self._walkable
        thrown = ~elsewhere & (np.abs(moved + MAZE_WARP_PIXELS) <= self._walkable)
        self.looped = thrown | self.led_back
        self.led_back[:] = False
        self.left_level = (_level_number(after) != self.home) & ~seen.flag
        # What a maze took back is walked again for nothing; a new life is not taken back.
        carried = ~elsewhere & ~walked & ~self.ending
        self.owed = np.where(carried, np.maximum(self.owed - moved, 0), self.owed).astype(np.int32)
        self.loops += thrown
        # Nor is anything covered after an end, while a whole game plays it out: under the picture Mario falls on.
        counts = walked & ~elsewhere & ~self.ending
        dx = np.where(counts, moved, 0)
        repaid = np.clip(dx, 0, self.owed)
        self.owed -= repaid
        dx -= repaid
        ground = np.where(counts, np.maximum(after.x - self.furthest, 0), 0)
        self.gained = np.maximum(ground - repaid, 0)
        milestones = self._cover(self.gained)
        reset = elsewhere | ~walked
        self.furthest = np.where(reset, after.x, self.furthest + ground).astype(np.int32)
        self.best = np.where(thrown, np.minimum(self.best, after.x), np.maximum(self.best, self.furthest))
        # While an end plays out, nobody can get any further.
        self.stalled = np.where((ground > 0) | elsewhere | thrown | self.ending, 0, self.stalled + 1).astype(np.int32)
        self.steps += 1
        self.frames += self._frame_skip
        ticks = before.time - after.time
        # What is left on the clock after a flag is turned into points, which is no time that passed.
        passed = (ticks > 0) & (ticks <= MOST_TICKS) & ~self.ending
        flag, death = self._ends_once(seen, after)
        distance = self._without_fall(dx, death & seen.fell, after)
        self.owed[self.ending] = self.flown[self.ending] = 0  # the next life, or level, begins with nothing owed
        ticked = np.where(passed, ticks, 0)
        self.raw += (dx - ticked - RAW_DEATH * death).astype(np.int32)
        return Counted(
            distance=distance,
            score=np.maximum(after.score - before.score, 0),
            time=ticked,
            flag=flag,
            death=death,
            milestone=milestones,
        )

    def counts(self) -> dict[str, float]:
        """What the last step was like, in all lanes together."""
        return {
            "forward": float(np.count_nonzero(self.gained)),
            "new_ground": float(self.gained.sum()),
            "stalled": float(np.count_nonzero(self.stalled * self._frame_skip >= STALLED_FRAMES)),
        }

    def _without_fall(self, dx: Integers, fell: NDArray[np.bool_], after: MarioFacts) -> Integers:
        """Where Mario fell to his death, undo what was paid since he last stood, or swam; or what it cost."""
        if self._falls_pay:
            return dx
        self.flown += dx
        paid = np.where(fell, dx - self.flown, dx).astype(np.int32)
        held_up = (after.float_state == ON_GROUND) | (after.float_state == ON_FLAGPOLE) | (after.swimming != 0)
        self.flown[held_up] = 0
        return paid

    def arrive(self, lane: int, frames: int, before: MarioFacts, after: MarioFacts) -> None:
        """A lane has run on by itself for so many frames and is somewhere else, or somebody else, now."""
        self.frames[lane] += frames
        if after.mode[lane] == MODE_GAME_OVER:  # nobody arrives anywhere: it is where the last life fell to
            return
        moved = int(after.x[lane]) - int(before.x[lane])
        elsewhere = any(getattr(after, name)[lane] != getattr(before, name)[lane] for name in _PLACE)
        carried = abs(moved) > self._walkable and not elsewhere and not self.ending[lane]
        if carried:
            self.owed[lane] = max(self.owed[lane] - moved, 0)
        if carried and moved < 0:  # the last castle's mazes are made of pipes
            self.led_back[lane] = True
            self.loops[lane] += 1
            self.best[lane] = after.x[lane]
        if abs(moved) > self._walkable or elsewhere:
            self.furthest[lane] = after.x[lane]
            self.stalled[lane] = self.flown[lane] = 0
        self.best[lane] = max(self.best[lane], self.furthest[lane])
        self.ending[lane] = False

    def _cover(self, ground: Integers) -> Integers:
        """New ground; returns the milestones that it passed."""
        before = self.covered // self._milestone_pixels
        self.covered += ground
        return self.covered // self._milestone_pixels - before

    def _ends_once(self, seen: Seen, after: MarioFacts) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Flags and deaths take many steps to play out in a whole game, and count when they begin."""
        flag = seen.flag & ~self.ending
        death = seen.lost & ~self.ending
        self.flags += flag
        self.ending = seen.flag | seen.lost | (self.ending & (after.task != TASK_CONTROLLED))
        return flag, death

    def facts(self, lane: int, end: int, after: MarioFacts, start_level: str) -> dict[str, float | str]:
        """What is worth knowing about an episode that has ended."""
        return {
            "level": start_level,
            "cleared": float(ENDS[end] in CLEARED),
            "x": float(self.best[lane]),
            "end_x": float(after.x[lane]),
            "end_y": float(after.y[lane]),
            "raw_return": float(self.raw[lane]),
            "score": float(after.score[lane] - self.first_score[lane]),
            "coins": float(after.coins[lane]),
            "time_left": float(after.time[lane]),
            "seconds": float(self.frames[lane] / FRAMES_PER_SECOND),
            "flags": float(self.flags[lane]),
            "loops": float(self.loops[lane]),
            "in_first_area": float(after.layout[lane] == self.first_layout[lane]),
            "reached": f"{after.world[lane]}-{after.stage[lane]}",
        }

    def state(self) -> StateTree:
        """Everything that was added up."""
        return {name: getattr(self, name).copy() for name in _ARRAYS}

    def restore(self, state: StateTree) -> None:
        """Go on adding."""
        for name in _ARRAYS:
            if name in _ADDED_LATER and name not in state:
                continue
            mine: NDArray[Any] = getattr(self, name)
            setattr(self, name, np.array(np.asarray(state[name]), mine.dtype))


def _level_number(facts: MarioFacts) -> Integers:
    return facts.world * 10 + facts.stage
