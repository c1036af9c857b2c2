"""Pools of actors over the fake world whose actors are threads here: started in no time, and easy to look into."""

import contextlib
import multiprocessing
import threading

import torch
from gathering import GRU, make_model

from respawn.collection.actor import Actor
from respawn.collection.actor_pool import ActorPool
from respawn.collection.actor_service import serve
from respawn.collection.config import CollectionConfig
from respawn.collection.scripted import Scripted
from respawn.collection.slots import lay_out
from respawn.collection.sync import SyncCollector
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.maths.seeding import make_generator
from respawn.processes.marks import Marks
from respawn.testing.fakes import FakeWorld

HORIZON_STEPS = 6


def fake_world(number):
    return FakeWorld(3, with_absences=True)


def make_sync(number, make_world=fake_world, scripted=False):
    """What actor `number` gathers with; the same as by itself."""
    world = make_world(number)
    world.reset([10 * number + lane for lane in range(3)])
    actor = Actor(make_model(0), 3, make_generator(0, "actor", number))
    device = torch.device("cpu")
    forced = Scripted(3, device) if scripted else None
    return SyncCollector(world, actor, horizon_steps=HORIZON_STEPS, device=device, scripted=forced)


class ThreadActor:
    """Serves as an actor's process would."""

    def __init__(self, number, files, folder, build):
        self.connection, theirs = multiprocessing.Pipe()
        self.ended = False
        self._thread = threading.Thread(target=self._run, args=(number, theirs, files, folder, build), daemon=True)
        self._thread.start()

    def _run(self, number, theirs, files, folder, build):
        try:
            serve(theirs, files, Marks(folder / f"actor-{number}.jsonl", number, "actor"), build)
        finally:
            theirs.close()

    @property
    def pid(self):
        return self._thread.ident

    def send(self, command, argument=None):
        with contextlib.suppress(OSError):  # as a process that is gone
            self.connection.send((command, argument))

    def stack(self):
        return "somewhere"

    def printed(self):
        return ""

    def end(self, grace_seconds=0.0):
        self.connection.close()
        self._thread.join(20)
        assert not self._thread.is_alive()
        return "exit code 0"


def make_pool(
    folder,
    actors=2,
    *,
    make_world=fake_world,
    scripted=False,
    notify=lambda event: None,
    pulse: Pulse = NO_PULSE,
    **settings,
):
    config = CollectionConfig(num_lanes=3, horizon_steps=HORIZON_STEPS, actors=actors, **settings)

    def launch(number, files):
        def build():
            collector = make_sync(number, make_world, scripted)
            model = make_model(0, GRU)
            spec = fake_world(number).spec
            return collector, lay_out(spec, HORIZON_STEPS, model.initial_memory(3), model.state_dict())

        return ThreadActor(number, files, folder, build)

    return ActorPool(config, launch, diagnostics=folder, notify=notify, device=torch.device("cpu"), pulse=pulse)
