"""What share of a run's time do all observers together take?

One process, one training. First it goes on in short blocks of updates, in turn with all observers and with none, which
of the two first by the toss of a coin: whatever else the machine does falls on both alike. The quotient of the two is
what observing costs, by the wall clock and by the processor time of the whole process, each with an interval from
resampled pairs of blocks. Then a training like it goes on with all observers, and the processor time that each of them
takes is counted: what happens in the training's own thread, and what threads of their own take besides.

On a busy machine a run does less in a second, and what is done every so many seconds becomes a larger share of it. So
the account is also given as if the run had a core to itself: what goes by records in shares of the processor time, what
goes by the clock in shares of the clock.

Half of the time of the first part nobody observes. What is done every so many seconds is therefore asked for half as
often, so that in proportion to the time that is observed it is as often as in a run. Threads that look by themselves go
on looking, and rest while nobody observes.

    .venv/bin/python benchmarks/observers_cost.py cartpole-ppo mario fish --minutes 4
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from harness import keep, show
from respawn.contracts.pulse import NO_PULSE
from respawn.contracts.records import Record, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.errors import ObserverError
from respawn.observers.build import ConsoleFacts, Watched, build_observers
from respawn.observers.config import ObserversConfig
from respawn.observers.hints import Hints
from respawn.observers.hub import ObserverHub
from respawn.observers.thread_phases import ThreadPhases
from respawn.observers.ticker import Ticker
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import new_meta
from respawn.training.assemble import assemble
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch
from respawn.training.hint_facts import hint_facts
from respawn.training.loop import updates
from respawn.training.run import Run

BLOCK_SECONDS = 0.4
"""Long against the clock's ticks, short against what else goes on in a machine."""
WARM_UP_SECONDS = 10.0
LIMIT = 0.02
RESAMPLES = 2000
FEWEST_PAIRS = 20
"""From fewer, drawing again says nothing."""
ROTATE_MIB = 0.25
"""Files are set aside far sooner than in a run (64), so that it happens while this looks on: an upper bound."""
BY_THE_CLOCK = ("latest", "console", "tensorboard")
"""Observers that act every so many seconds; so do all threads."""
PERIODS = ("console_seconds", "tensorboard_seconds", "latest_seconds")
"""What observers do no more often than this, asked whenever a record comes."""


class Switch(ObserverHub):
    """The hub that a run is given: hands on to the observers, or to nobody."""

    def __init__(self, hub: ObserverHub) -> None:
        super().__init__({})
        self.hub = hub
        self.nobody = ObserverHub({})
        self.at_work = hub

    def receive(self, record: Record) -> None:
        """To whoever is at work."""
        self.at_work.receive(record)


class Pulse:
    """The pulse that a run is given; what is called can be changed without another call in between."""

    def __init__(self) -> None:
        self.phases = ThreadPhases()
        self.mark: Callable[[str], None] = self.phases.mark
        self.moved = self.phases.moved


class Timed:
    """An observer, and how long it took in the training's own thread; with what the others made of what it told."""

    _inside = threading.local()

    def __init__(self, observer: Any) -> None:
        self.observer = observer
        self.wall = self.processor = 0.0

    def receive(self, record: Record) -> None:
        """Let it observe, and look at the clocks."""
        if threading.current_thread() is not threading.main_thread() or getattr(self._inside, "yes", False):
            self.observer.receive(record)
            return
        self._inside.yes = True
        processor, wall = time.thread_time(), time.perf_counter()
        try:
            self.observer.receive(record)
        finally:
            self.processor += time.thread_time() - processor
            self.wall += time.perf_counter() - wall
            self._inside.yes = False

    def state(self) -> StateTree:
        """The observer's."""
        return self.observer.state()

    def restore(self, state: StateTree) -> None:
        """The observer's."""
        self.observer.restore(state)

    def close(self) -> None:
        """The observer's."""
        self.observer.close()


@dataclass(frozen=True)
class Share:
    """A quotient less one, and where it lies with a probability of 95 %; None: too few pairs to say."""

    share: float
    low: float | None
    high: float | None


class Training:
    """A training with observers that can be switched off and on between updates."""

    def __init__(self, config: RunConfig, folder: RunFolder, log: Any) -> None:
        device = torch.device("cpu")
        prepare_torch(device, config.threads)
        self.pulse = Pulse()
        self._resting = False
        with self._tickers_that_rest():
            hub = build_observers(
                folder,
                config.observers,
                ConsoleFacts(config.last_update, None, stream=log),
                Watched(self.pulse.phases, "cpu"),
            )
        self.switch = Switch(hub)
        self.run: Run = assemble(config, folder, self.switch, device, self.pulse)
        hub.add("hints", Hints(hint_facts(config, self.run.world, device), hub.receive))
        self._updates: Iterator[UpdateReport] = updates(self.run)

    @contextmanager
    def _tickers_that_rest(self) -> Iterator[None]:
        """Threads of observers do nothing while nobody observes."""
        original = Ticker.__init__

        def init(ticker: Ticker, name: str, seconds: float, tick: Callable[[], None]) -> None:
            original(ticker, name, seconds, lambda: None if self._resting else tick())

        Ticker.__init__ = init  # type: ignore[method-assign]
        try:
            yield
        finally:
            Ticker.__init__ = original  # type: ignore[method-assign]

    def observe(self, yes: bool) -> None:
        """Whether anybody observes from the next update on."""
        self.switch.at_work = self.switch.hub if yes else self.switch.nobody
        self.pulse.mark = self.pulse.phases.mark if yes else NO_PULSE.mark
        self._resting = not yes

    def go_on(self, updates: int) -> tuple[float, float]:
        """Make so many updates; seconds by the wall clock, and of processor time in all threads."""
        processor, wall = time.process_time(), time.perf_counter()
        for _ in range(updates):
            next(self._updates)
        return time.perf_counter() - wall, time.process_time() - processor

    def updates_in(self, seconds: float) -> float:
        """How many updates it makes in so many seconds."""
        made, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            next(self._updates)
            made += 1
        return made / (time.perf_counter() - began) * seconds

    def close(self) -> None:
        """End it, and its observers; raises if one of them failed, for then there was less to pay."""
        self.observe(True)
        self.run.close()
        self.switch.hub.close()
        if self.switch.hub.failures:
            raise ObserverError(str(self.switch.hub.failures[0]))


def all_on(config: RunConfig, slower: float) -> RunConfig:
    """The preset with every observer, and nothing else beside learning."""
    observers = ObserversConfig(rotate_mib=ROTATE_MIB)
    observers = replace(observers, **{name: slower * getattr(observers, name) for name in PERIODS})
    return replace(
        config,
        updates=10**7,
        minutes=None,
        planned_updates=10**7,
        evaluation=replace(config.evaluation, every_updates=0, stop_at=None),
        checkpoints=replace(config.checkpoints, every_updates=0, every_seconds=0.0),
        observers=observers,
    )


def compared(training: Training, seconds: float, dice: random.Random) -> dict[str, Any]:
    """Blocks with and without, in turn."""
    per_block = max(1, round(training.updates_in(WARM_UP_SECONDS) / WARM_UP_SECONDS * BLOCK_SECONDS))
    pairs: list[dict[bool, tuple[float, float]]] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        pair: dict[bool, tuple[float, float]] = {}
        for observed in dice.sample([True, False], 2):
            training.observe(observed)
            pair[observed] = training.go_on(per_block)
        pairs.append(pair)
    training.observe(True)
    by_wall = [(pair[True][0], pair[False][0]) for pair in pairs]
    by_processor = [(pair[True][1], pair[False][1]) for pair in pairs]
    return {
        "pairs": len(pairs),
        "updates_per_block": per_block,
        "block_seconds": fmean(off for _, off in by_wall),
        "by_wall_clock": asdict(share_of(by_wall)),
        "by_processor_time": asdict(share_of(by_processor)),
    }


def share_of(pairs: Sequence[tuple[float, float]]) -> Share:
    """How much more all that was observed took than all that was not; pairs are drawn again and again."""
    times = np.array(pairs)
    draws = np.random.default_rng(0).integers(len(times), size=(RESAMPLES, len(times)))
    sums = times[draws].sum(axis=1)
    shares = sums[:, 0] / sums[:, 1] - 1
    with_them, without = times.sum(axis=0)
    low, high = (float(each) for each in np.percentile(shares, (2.5, 97.5)))
    is_known = len(times) >= FEWEST_PAIRS
    return Share(float(with_them / without - 1), low if is_known else None, high if is_known else None)


def accounted(training: Training, seconds: float) -> dict[str, Any]:
    """The processor time of each observer, in shares of that of the whole process."""
    hub, timed = training.switch.hub, {}
    for name in list(hub._observers):
        timed[name] = Timed(hub._observers[name])
        hub.add(name, timed[name])
    before = thread_times()
    made, (wall, processor) = 0, (0.0, 0.0)
    while wall < seconds:
        took = training.go_on(1)
        made, wall, processor = made + 1, wall + took[0], processor + took[1]
    beside = {name: spent - before.get(name, 0.0) for name, spent in thread_times().items()}
    named = {
        **{name: each.processor for name, each in timed.items()},
        **{f"thread {name}": spent for name, spent in beside.items()},
    }
    alone = sum(
        spent / (wall if name in BY_THE_CLOCK or name.startswith("thread ") else processor)
        for name, spent in named.items()
    )
    return {
        "updates": made,
        "seconds": wall,
        "processor_seconds": processor,
        "share_of_processor_time": sum(named.values()) / processor,
        "share_of_wall_clock": (sum(each.wall for each in timed.values()) + sum(beside.values())) / wall,
        "share_with_a_core_to_itself": alone,
        "by_observer": {name: spent / processor for name, spent in sorted(named.items(), key=lambda item: -item[1])},
        "milliseconds_an_update": {name: 1000 * spent / made for name, spent in named.items()},
    }


def thread_times() -> dict[str, float]:
    """Seconds of processor time of the threads that observers have of their own."""
    theirs = [
        thread
        for thread in threading.enumerate()
        if thread.name in ("heartbeat", "resources") or "AsyncWriter" in type(thread).__name__
    ]
    return {
        "tensorboard" if "AsyncWriter" in type(thread).__name__ else thread.name: time.clock_gettime(
            time.pthread_getcpuclockid(thread.ident)  # type: ignore[arg-type] - they have begun
        )
        for thread in theirs
    }


def measure(preset: str, minutes: float, place: Path) -> dict[str, Any]:
    meta = asdict(new_meta("one", preset, preset, 1))
    with (place / f"{preset}.log").open("w") as log:
        training = Training(all_on(find_preset(preset), slower=2.0), create(place, f"{preset}-a", meta, {}), log)
        try:
            by_blocks = compared(training, 60 * minutes, random.Random(preset))
        finally:
            training.close()
        training = Training(all_on(find_preset(preset), slower=1.0), create(place, f"{preset}-b", meta, {}), log)
        try:
            training.updates_in(WARM_UP_SECONDS)
            by_account = accounted(training, 30 * minutes)
        finally:
            training.close()
    archives = [path.name for path in (place / f"{preset}-b").glob("*.gz")]
    return {"blocks": by_blocks, "account": by_account, "files_set_aside": len(archives)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", default=["cartpole-ppo", "mario", "fish"])
    parser.add_argument("--minutes", type=float, default=4.0, help="of each preset's blocks; half as long for accounts")
    parser.add_argument("--place", type=Path, help="where run folders are made; else where temporary files are")
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    for preset in arguments.presets:
        with tempfile.TemporaryDirectory(dir=arguments.place) as place:
            load = os.getloadavg()[0]
            found[preset] = {**measure(preset, arguments.minutes, Path(place)), "load_before": load}
        tell(preset, found[preset])
    load = os.getloadavg()[0]
    keep("observers_cost", (__doc__ or "").split("\n")[0], {"limit": LIMIT, "presets": found, "load_after": load})
    return 0 if all(is_cheap(each) for each in found.values()) else 1


def is_cheap(found: dict[str, Any]) -> bool:
    """Whether what was counted is below the limit, and nothing says that what was not counted is above it."""
    blocks, account = found["blocks"], found["account"]
    surely = [blocks[key]["low"] for key in ("by_processor_time", "by_wall_clock")]
    is_known_to_cost_more = any(low is not None and low >= LIMIT for low in surely)
    return account["share_with_a_core_to_itself"] < LIMIT and not is_known_to_cost_more


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def tell(preset: str, found: dict[str, Any]) -> None:
    blocks, account = found["blocks"], found["account"]
    rows = [
        (f"with and without, by {name}", *(percent(blocks[key][part]) for part in ("share", "low", "high")))
        for name, key in (("processor time", "by_processor_time"), ("wall clock", "by_wall_clock"))
    ]
    rows.append(("counted, of processor time", percent(account["share_of_processor_time"]), "", ""))
    rows.append(("counted, with a core to itself", percent(account["share_with_a_core_to_itself"]), "", ""))
    rows.append(("counted, of wall clock", percent(account["share_of_wall_clock"]), "", ""))
    rows += [(f"  {name}", f"{100 * share:.3f} %", "", "") for name, share in account["by_observer"].items()]
    title = f"{preset}: {blocks['pairs']} pairs of {blocks['updates_per_block']} updates, then {account['updates']}"
    show(title, ("", "share", "2.5 %", "97.5 %"), rows)


if __name__ == "__main__":
    sys.exit(main())
