"""Films of the worst schools of an evaluation, played again exactly as they were judged."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Event, Probe
from respawn.errors import VideoError
from respawn.evaluation.video import check_film_path, write_film
from respawn.maths.seeding import make_generator
from respawn.runs.layout import RunFolder
from respawn.training.school_film import SchoolTake, paint, take_of
from respawn.training.school_stage import SchoolStage
from respawn.training.trained import Trained
from respawn.worlds.fish.config import FishConfig

FRAMES_PER_SECOND = 20
MOST_FRAMES = 501
"""500 steps, and how the school began."""


def film_worst_schools(
    trained: Trained, folder: RunFolder, probe: Probe, count: int, *, device_name: str
) -> Iterator[Event]:
    """Film the schools of which fewest survived, a file each in media/, and say of each whether it is exact.

    Args:
      trained: the weights that were judged.
      folder: of the run.
      probe: the evaluation in full: from it come the seeds, what the schools began with, and what became of them.
      count: how many.
      device_name: where to compute.
    """
    world, facts = trained.config.world, probe.facts
    if not isinstance(world, FishConfig):
        raise VideoError("the worst schools can be filmed in the fish world only; leave out evaluation.worst-films")
    seeds, tanks = facts["seeds"], world.as_judged(facts["num_fish"])
    stage = SchoolStage(trained, tanks, len(seeds), knobs=probe_knobs(probe), device_name=device_name)
    evaluation = trained.config.evaluation
    dice = None if facts["greedy"] else make_generator(evaluation.seed_base, "evaluation", device=stage.device)
    worst = worst_records(facts["records"], count)
    recordings = stage.record(seeds, [record["episode"] for record in worst], dice)
    for rank, (record, recording) in enumerate(zip(worst, recordings, strict=True), start=1):
        path = folder.media / f"{folder.name}_iter{probe.update:03}_tail_rank{rank}_ep{record['episode']}.mp4"
        check_film_path(path)
        take = take_of(recording, record["death_timesteps"])
        title = f"{folder.name}, update {probe.update}   seed {take.seed}"
        write_film(path, islice(paint(recording, title), MOST_FRAMES), frames_per_second=FRAMES_PER_SECOND)
        yield _filmed(str(path), rank, record["episode"], take, probe.update)


def probe_knobs(probe: Probe) -> Knobs:
    """What schedules had decided when the schools were judged; by now they may have decided otherwise."""
    facts = probe.facts
    return Knobs(0, {"escape_boost": facts["escape_boost_speed"], "density_penalty": facts["density_penalty_coef"]})


def worst_records(records: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    """The episodes of a probe with the fewest survivors, the worst first."""
    return sorted(records, key=lambda record: (record["final_num_alive"], record["episode"]))[:count]


def _filmed(path: str, rank: int, number: int, take: SchoolTake, update: int) -> Event:
    alive = sum(step < 0 for step in take.death_steps)
    said = (
        f"update {update}: episode {number}, rank {rank} from below ({alive} of {take.fish} alive), is filmed: {path}"
    )
    facts: dict[str, str | int | float | bool | None] = {
        "path": path,
        "rank": rank,
        "episode": number,
        "seed": take.seed,
        "exact": take.as_played,
    }
    if take.as_played:
        return Event("filmed", said, facts=facts)
    other = "; it went otherwise than when it was judged, so the film does not show what the evaluation counted"
    return Event("film_differs", said + other, "warning", facts)
