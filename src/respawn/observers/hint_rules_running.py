"""Hints about the machine and the speed: disk, memory, GPU, lost processes, who waits for whom.

Those about speed speak only where a run is long enough to be worth tuning and where there is something to tune with:
two cores that are both busy are no one's fault.
"""

from statistics import fmean, median

from respawn.observers.hint_rule import Grounds, Rule
from respawn.observers.hint_view import HintView
from respawn.runs.disk import is_nearly_full, room_told

FULL_MEMORY_PERCENT = 92.0
"""Above it systems begin to swap, or to kill."""
FEW_SAMPLES = 3
RECENT_SAMPLES = 6
"""a minute, at one sample in ten seconds"""
GPU_SAMPLES = 30
"""Five minutes: where gathering takes long, a GPU is busy in few of them."""
IDLE_GPU_PERCENT = 5.0
GROWTH_SAMPLES = 60
"""Ten minutes. Before that a process still allocates what it will go on using."""
LEAST_RISE = 1 / 8
"""Of the whole growth, which each part of the time must have its share of: what grows evenly has a quarter or more."""
REPLACED, REPLACED_UPDATES = 3, 200

WORTH_TUNING_SECONDS = 600.0
"""Who waits for less than ten minutes gains nothing by tuning."""
FREE_CORES = 2
"""so many cores must be left over before more processes or threads are advised"""
SPEED_ROWS = 50
MOSTLY = 0.5
NEARLY_ALWAYS = 0.8


def disk_nearly_full(view: HintView) -> Grounds | None:
    """Checkpoints will soon fail."""
    free = view.resource("resource/disk_free_gib", FEW_SAMPLES)
    share = view.resource("resource/disk_free_share")
    if free is None:
        return None
    if not is_nearly_full(max(free), None if share is None else share[-1]):
        return None
    return {"free_gib": free[-1], "free": room_told(free[-1])}


def memory_nearly_full(view: HintView) -> Grounds | None:
    """The machine is about to swap, or to kill the largest process."""
    percents = view.resource("resource/system_memory_percent", FEW_SAMPLES)
    if percents is None or min(percents) < FULL_MEMORY_PERCENT:
        return None
    own = view.resource("resource/process_rss_mib")
    return {"percent": percents[-1], "process_mib": 0.0 if own is None else own[-1]}


def _growth(view: HintView, name: str) -> tuple[float, float] | None:
    """Medians of the first and the last third of what was sampled, where it rose from third to third, and rises.

    What was taken once, as by the first film, is a step in one of them, and what allocators take and give back is none.
    """
    count = len(view.resources)
    values = view.resource(name, count) if count >= GROWTH_SAMPLES else None
    if values is None:
        return None
    third = count // 3
    first, second, last = median(values[:third]), median(values[third : 2 * third]), median(values[-third:])
    sixth = third // 2
    at_its_end = median(values[-sixth:]) - median(values[-third:-sixth])
    least = LEAST_RISE * (last - first)
    grows = first < last and min(second - first, last - second, at_its_end) > least
    return (first, last) if grows else None


def memory_growing(view: HintView) -> Grounds | None:
    """The process takes more and more memory, and it is not replay that fills."""
    fill = view.latest("replay/fill")
    grown = _growth(view, "resource/process_rss_mib")
    if grown is None or (fill is not None and fill < 1.0):
        return None
    first, last = grown
    # Allocators settle within some tens of MiB; a quarter more, third over third, is something that is kept.
    return {"before_mib": first, "now_mib": last} if last > max(1.25 * first, first + 256) else None


def handles_growing(view: HintView) -> Grounds | None:
    """Files or threads are opened and not closed."""
    for name in ("open_files", "threads"):
        grown = _growth(view, f"resource/{name}")
        if grown is not None and grown[1] > max(2 * grown[0], grown[0] + 50):
            return {"what": name.replace("_", " "), "before": grown[0], "now": grown[1]}
    return None


def gpu_idle(view: HintView) -> Grounds | None:
    """The GPU has nothing to do; exactly 0 % counts."""
    if view.facts.device_type != "cuda":
        return None
    used, updates = view.resource("resource/gpu_utilisation", GPU_SAMPLES), view.resource("update", GPU_SAMPLES)
    # Before a process's first update a GPU has little to do: worlds are made, and kernels compiled.
    if used is None or updates is None or updates[0] <= view.first_sampled_update or fmean(used) > IDLE_GPU_PERCENT:
        return None
    return {"percent": fmean(used), "lanes": view.facts.num_lanes}


def processes_replaced(view: HintView) -> Grounds | None:
    """Workers or actors are lost again and again."""
    recent = [log for update, log in view.replacements if update > view.update - REPLACED_UPDATES]
    return {"count": len(recent), "updates": REPLACED_UPDATES, "log": recent[-1]} if len(recent) >= REPLACED else None


def _free_cores(view: HintView) -> float | None:
    """Cores that nobody uses; None where the run is too short to care, or that is not known."""
    seconds = view.latest("time/total_seconds")
    machine = view.resource("resource/system_cpu_percent_mean", RECENT_SAMPLES)
    own = view.resource("resource/process_cpu_percent_mean", RECENT_SAMPLES)
    if seconds is None or seconds < WORTH_TUNING_SECONDS or machine is None or own is None:
        return None
    cores = view.facts.usable_cores
    # What others do on the same machine counts too, and so does a limit that only this process has.
    return min(cores * (1 - machine[-1] / 100), cores - own[-1] / 100)


def _has_free_cores(view: HintView) -> bool:
    free = _free_cores(view)
    return free is not None and free >= FREE_CORES


def world_bound(view: HintView) -> Grounds | None:
    """Learning mostly waits for the world, and cores are free."""
    if view.facts.actors > 0:
        share = view.latest("time/learner_waiting_share")  # over the last 50 rollouts already
    elif view.facts.lag == 1 and view.facts.is_threaded:
        share = view.mean("time/idle_share", SPEED_ROWS)
    else:
        collect = view.mean("time/collect_share", SPEED_ROWS)
        share = collect if collect is not None and collect > NEARLY_ALWAYS else None
    if share is None or share <= MOSTLY or not _has_free_cores(view):
        return None
    return {"share": share, "free_cores": _free_cores(view) or 0.0, "actors": view.facts.actors + FREE_CORES}


def learner_bound(view: HintView) -> Grounds | None:
    """The world mostly waits for learning, and that can be helped."""
    facts = view.facts
    if facts.actors > 1:  # of one there are no fewer
        waiting = view.latest("time/actors_waiting_share")
        if waiting is None or waiting <= MOSTLY:
            return None
        return {"share": waiting, "advice": "fewer --collection.actors would do"}
    share, seconds = view.mean("time/learn_share", SPEED_ROWS), view.latest("time/total_seconds")
    if share is None or share <= NEARLY_ALWAYS or seconds is None or seconds < WORTH_TUNING_SECONDS:
        return None
    if facts.device_type == "cuda":
        return {"share": share, "advice": "compute with --model.precision bfloat16, if it does not yet"}
    if 0 < facts.threads < facts.usable_cores and _has_free_cores(view):
        threads = min(facts.usable_cores, facts.threads + FREE_CORES)
        return {"share": share, "advice": f"compute with more threads, --threads {threads}, in the next run"}
    return None


def overlap_would_pay(view: HintView) -> Grounds | None:
    """Gathering and learning take turns, take about as long, and cores are free."""
    facts = view.facts
    collect, learn = view.mean("time/collect_share", SPEED_ROWS), view.mean("time/learn_share", SPEED_ROWS)
    # PPO pays for old weights with its clip, and mostly loses more than it gains; V-trace corrects for them.
    if facts.lag != 0 or facts.actors > 0 or facts.learner != "vtrace" or collect is None or learn is None:
        return None
    if min(collect, learn) < 0.3 or not _has_free_cores(view):
        return None
    return {"collect": collect, "learn": learn, "gain": min(collect, learn)}


def much_beside(view: HintView) -> Grounds | None:
    """Most of the time is neither gathering nor learning."""
    seconds, other = view.latest("time/total_seconds"), view.mean_by_time("time/other_share", 100)
    if seconds is None or seconds < WORTH_TUNING_SECONDS or other is None or other <= MOSTLY:
        return None
    return {"share": other}


RULES = (
    Rule(
        "disk-nearly-full",
        disk_nearly_full,
        "{free} are left on the run's disk: make room, or keep less: stop the run, lower "
        "checkpoints.keep_last or limit observers.retain_archives in its config.json, and 'respawn resume RUN'; a "
        "checkpoint that does not fit is not made",
    ),
    Rule(
        "memory-nearly-full",
        memory_nearly_full,
        "{percent:.0f} % of the machine's memory is taken ({process_mib:,.0f} MiB by this process): stop what else "
        "runs, or take fewer --collection.num-lanes, --collection.actors or --learner.replay.capacity-decisions",
    ),
    Rule(
        "memory-growing",
        memory_growing,
        "this process grew from {before_mib:,.0f} to {now_mib:,.0f} MiB and goes on growing: see resources.jsonl, and "
        "stop and resume it before the machine is full; an environment of your own may be what keeps things",
    ),
    Rule(
        "handles-growing",
        handles_growing,
        "{what} grew from {before:.0f} to {now:.0f} and go on growing: see resources.jsonl, and stop and resume the "
        "run before the system refuses more; an environment of your own may be what leaves them open",
    ),
    Rule(
        "gpu-idle",
        gpu_idle,
        "the GPU is used {percent:.0f} % of the time: give it more at once with --collection.num-lanes (now {lanes}) "
        "or --collection.horizon-steps, or leave it to others with --device cpu",
    ),
    Rule(
        "processes-replaced",
        processes_replaced,
        "{count} workers or actors were lost and replaced within {updates} updates: read the last one's log ({log}), "
        "and mend the environment, or allow it more time with --world.step-seconds or --collection.rollout-seconds",
    ),
    Rule(
        "world-bound",
        world_bound,
        "gathering holds learning up {share:.0%} of the time and {free_cores:.0f} cores are free: gather in more "
        "processes with --collection.actors {actors}, or more threads with --world.engine-threads or --world.workers",
    ),
    Rule(
        "learner-bound",
        learner_bound,
        "learning holds gathering up {share:.0%} of the time: {advice}, or learn less from each rollout, with fewer "
        "--learner.epochs or a smaller model",
    ),
    Rule(
        "overlap-would-pay",
        overlap_would_pay,
        "gathering takes {collect:.0%} of the time and learning {learn:.0%}, one after the other, and cores are free: "
        "--collection.lag 1 does both at once in the next run, for up to {gain:.0%} less time",
    ),
    Rule(
        "much-beside",
        much_beside,
        "{share:.0%} of the time goes into neither gathering nor learning: see time/evaluate_seconds, "
        "time/checkpoint_seconds and time/film_seconds, and raise --evaluation.every-updates or "
        "--checkpoints.every-updates",
    ),
)
