"""For every hint streams that make it speak, and others that nearly do."""

from dataclasses import replace
from math import log

from hint_case import (
    ALL_CUT,
    BY_PPO,
    ON_GPU,
    ON_TWO_CORES,
    OVERLAPPED,
    REPLAYED,
    WITH_ACTORS,
    WITH_REPLAY,
    case,
    evaluations,
    jump,
    lost,
    now_and_then,
    settling,
)
from hint_streams import FACTS

CASES = (
    case("no-progress", {"metrics": {"world/forward_share": 0.0}}, {"metrics": {"world/forward_share": 0.02}}),
    case(
        "no-progress",
        {"metrics": {"world/forward_share": 0.0}},
        {"metrics": {"world/forward_share": 0.0, "collect/scripted_fraction": 0.1}},
    ),
    case(
        "no-progress",
        {"metrics": {"world/forward_share": 0.009}},
        {"metrics": {"world/forward_share": lambda update: 0.5 if update % 9 == 0 else 0.0}},
    ),
    case("endless-progress", {"episodes_each": 0, "updates": 160}, {"episodes_each": 0, "updates": 150}),
    case("endless-progress", {"episodes_each": 0, "updates": 200}, {"updates": 200}),
    case(
        "no-episode-ended",
        {"episodes_each": 0, "updates": 160},
        {"episodes_each": 0, "updates": 150},
        replace(FACTS, progress_metric=None),
    ),
    case(
        "no-episode-ended",
        {"episodes_each": 0, "updates": 60},
        {"episodes_each": 0, "updates": 60},
        replace(FACTS, progress_metric=None, planned_updates=100),
        replace(FACTS, progress_metric=None),
    ),
    case(
        "zero-returns",
        {"metrics": {"return/mean": 0.0, "return/max": 0.0, "return/min": 0.0}},
        {"metrics": {"return/mean": 0.0, "return/max": jump(200, 0.0, 1.0), "return/min": 0.0}, "episodes_each": 1},
    ),
    case(
        "judged-below-training",
        {"others": evaluations(1, 1, 1, 1, 1)},
        {"others": evaluations(1, 1, 30, 1, 1)},
    ),
    case(
        "judged-below-training",
        {"others": evaluations(1, 1, 1, 1, 1)},
        {"others": evaluations(1, 1, 1, 1, 1)},
        FACTS,
        replace(FACTS, is_judged_as_trained=False),
    ),
    case(
        "fell-back",
        {"others": evaluations(20, 60, 20, 20, 20)},
        {"others": evaluations(20, 60, 20, 20, 45)},
        replace(FACTS, is_judged_as_trained=False),
    ),
    case("fell-back", {"others": evaluations(20, 100, 48, 47, 49)}, {"others": evaluations(90, 100, 93, 91, 92)}),
    case(
        "policy-uniform",
        {"metrics": {"policy/entropy": 0.97 * log(4)}},
        {"metrics": {"policy/entropy": lambda update: (0.97 if update < 60 else 0.93) * log(4)}},
    ),
    case(
        "policy-uniform",
        {"metrics": {"policy/entropy": 1.37}, "updates": 120},
        {"metrics": {"policy/entropy": 1.37}, "updates": 90},
    ),
    case(
        "policy-uniform",
        {"metrics": {"policy/entropy": 1.37}},
        {"metrics": {"policy/entropy": 1.37}},
        FACTS,
        replace(FACTS, num_actions=None),
    ),
    case(
        "one-action",
        {"metrics": {"policy/action_share_1": 0.995}},
        {"metrics": {"policy/action_share_1": 0.97}},
    ),
    case(
        "one-action",
        {"metrics": {"policy/action_share_1": 1.0}},
        {"metrics": {"policy/action_share_1": 1.0, "collect/scripted_fraction": 0.01}},
    ),
    case("decided-early", {"metrics": {"policy/entropy": 0.01}}, {"metrics": {"policy/entropy": 0.1}}),
    case(
        "decided-early",
        {"metrics": {"policy/entropy": 0.01}},
        {"metrics": {"policy/entropy": 0.01, "return/std": 0.05}},
    ),
    case(
        "decided-early",
        {"metrics": {"policy/entropy": jump(150, 1.0, 0.01)}},
        {"metrics": {"policy/entropy": jump(200, 1.0, 0.01)}},
    ),
    case("kl-large", {"metrics": {"policy/kl": 0.2}}, {"metrics": {"policy/kl": 0.08}}),
    case(
        "kl-large",
        {"metrics": {"policy/kl": lambda update: 0.0 if update % 4 == 0 else 0.2}},
        {"metrics": {"policy/kl": lambda update: 0.2 if update % 4 == 0 else 0.0}},
    ),
    case(
        "kl-large",
        {"metrics": {"policy/kl": 0.3}},
        {"metrics": {"policy/kl": 0.3}},
        FACTS,
        replace(FACTS, kl_limit=0.2),
    ),
    case(
        "explained-variance-negative",
        {"metrics": {"value/explained_variance": -0.5, "loss/value": 0.4}},
        {"metrics": {"value/explained_variance": -0.05, "loss/value": 0.4}},
    ),
    case(
        "explained-variance-negative",
        {"metrics": {"value/explained_variance": -5.0, "loss/value": jump(100, 0.4, 0.2)}},
        {"metrics": {"value/explained_variance": jump(100, 0.5, -5.0), "loss/value": jump(100, 0.4, 1e-4)}},
    ),
    case(
        "value-loss-exploding",
        {"metrics": {"loss/value": jump(140, 0.4, 20.0), "return/mean": jump(140, 30.0, 25.0)}},
        {"metrics": {"loss/value": jump(140, 0.4, 7.0), "return/mean": jump(140, 30.0, 25.0)}},
    ),
    case(
        "value-loss-exploding",
        {"metrics": {"loss/value": jump(140, 0.4, 20.0), "return/mean": 30.0}},
        {"metrics": {"loss/value": jump(140, 0.4, 20.0)}},  # returns rise
    ),
    case(
        "value-loss-exploding",
        {"metrics": {"loss/value": jump(160, 0.4, 20.0), "return/mean": 30.0}},
        {"metrics": {"loss/value": lambda update: 20.0 if update % 3 == 0 else 0.4, "return/mean": 30.0}},
    ),
    case(
        "value-loss-exploding",  # little by little
        {"metrics": {"loss/value": lambda update: 0.05 * 2 ** (update / 20), "return/mean": 30.0}},
        {"metrics": {"loss/value": lambda update: 0.05 * 1.1 ** (update / 20), "return/mean": 30.0}},
    ),
    case(
        "value-loss-exploding",  # early
        {"metrics": {"loss/value": jump(25, 0.4, 40.0), "return/mean": 30.0}},
        {"metrics": {"loss/value": jump(25, 0.4, 40.0)}},
    ),
    case(
        "value-loss-exploding",  # once rewards are found, values are larger for good, however returns waver then
        {"metrics": {"loss/value": jump(100, 0.01, 0.3), "return/mean": jump(200, 30.0, 5.0)}},
        {"metrics": {"loss/value": jump(100, 0.01, 0.3), "return/mean": lambda u: 0.0 if u < 100 else 30.0 - u % 7}},
    ),
    case(
        "loss-high",
        {"metrics": {"loss/value": 60.0, "return/max": 10.0, "return/min": -10.0}},
        {"metrics": {"loss/value": 40.0, "return/max": 10.0, "return/min": -10.0}},
    ),
    case(
        "loss-high",
        {"metrics": {"loss/value": 60.0, "return/max": 10.0}},
        {"metrics": {"loss/value": 60.0, "return/max": 10.0, "episodes/terminated_fraction": 0.2}},
    ),
    case(
        "gradients-clipped",
        {"metrics": ALL_CUT},
        {"metrics": {"gradient/clipped_fraction": 1.0, "gradient/norm": 5.0}},
    ),
    case(
        "gradients-clipped",
        {"metrics": ALL_CUT},
        {"metrics": {"gradient/clipped_fraction": lambda update: float(update % 50 > 0), "gradient/norm": 15.0}},
    ),
    case(
        "gradients-clipped",  # where the policy gets better nevertheless, nothing is wrong
        {"metrics": {**ALL_CUT, "return/mean": lambda update: 100.0 - update / 10}},
        {"metrics": {**ALL_CUT, "return/mean": lambda update: min(update, 150) + update % 3}},
    ),
    case(
        "weights-stale",
        {"metrics": {"policy/kl": 0.2, "weights/lag": 2.0}},
        {"metrics": {"policy/kl": 0.08, "weights/lag": 2.0}},
        WITH_ACTORS,
    ),
    case(
        "weights-stale",  # ratios that are clipped are no sign of it
        {"metrics": {"policy/kl": 0.2, "weights/lag": 1.0}},
        {"metrics": {"policy/kl": 0.001, "weights/lag": 1.0, "policy/rho_clipped_fraction": 0.6}},
    ),
    case(
        "replay-starved",
        {"metrics": {**REPLAYED, "replay/fill": 0.01}, "updates": 320},
        {"metrics": {**REPLAYED, "replay/fill": 0.06}, "updates": 320},
        WITH_REPLAY,
    ),
    case(
        "replay-starved",
        {"metrics": {**REPLAYED, "replay/sampled": 0.0}},
        {"metrics": {**REPLAYED, "replay/sampled": lambda update: float(update % 80 == 0)}},
        WITH_REPLAY,
    ),
    case(
        "replay-starved",
        {"metrics": {"replay/fill": 0.0, "replay/sampled": 0.0}, "updates": 320},
        {"metrics": {"replay/fill": 0.0, "replay/sampled": 0.0}, "updates": 320},
        WITH_REPLAY,
        FACTS,
    ),
    case(
        "updates-dropped",
        {"metrics": {"learn/dropped": lambda update: float(update % 10 == 0)}},
        {"metrics": {"learn/dropped": lambda update: float(update % 30 == 0)}},
    ),
    case(
        "disk-nearly-full",
        {"resources": {"resource/disk_free_gib": 4.0, "resource/disk_free_share": 0.01}},
        {"resources": {"resource/disk_free_gib": 40.0, "resource/disk_free_share": 0.01}},
    ),
    case(
        "disk-nearly-full",
        {"resources": {"resource/disk_free_gib": 0.5}},
        {"resources": {"resource/disk_free_gib": 1.5}},
    ),
    case(
        "memory-nearly-full",
        {"resources": {"resource/system_memory_percent": 95.0}},
        {"resources": {"resource/system_memory_percent": lambda update: 99.0 if update % 3 == 0 else 80.0}},
    ),
    case(
        "memory-growing",
        {"resources": {"resource/process_rss_mib": lambda update: 400.0 + 5 * update}},
        {"resources": {"resource/process_rss_mib": jump(20, 400.0, 900.0)}},  # it took what it needs
    ),
    case(
        "memory-growing",
        {"resources": {"resource/process_rss_mib": lambda update: 400.0 + 5 * update}},
        {
            "resources": {
                "resource/process_rss_mib": lambda update: 400.0 if update < 30 else jump(60, 420.0, 900.0)(update)
            }
        },
    ),
    case(
        "memory-growing",
        {"resources": {"resource/process_rss_mib": lambda update: settling(update) + 3 * update}},
        {"resources": {"resource/process_rss_mib": lambda update: settling(update) + jump(180, 0.0, 500.0)(update)}},
    ),
    case(
        "memory-growing",
        {"resources": {"resource/process_rss_mib": lambda update: 400.0 + 5 * update}},
        {"resources": {"resource/process_rss_mib": lambda update: 400.0 + 5 * update}, "metrics": {"replay/fill": 0.4}},
    ),
    case(
        "handles-growing",
        {"resources": {"resource/open_files": lambda update: 16.0 + update}},
        {"resources": {"resource/open_files": lambda update: 16.0 + update % 40}},
    ),
    case(
        "handles-growing",
        {"resources": {"resource/threads": lambda update: 9.0 + update}},
        {"resources": {"resource/threads": lambda update: 9.0 + 0.1 * update}},
    ),
    case(
        "gpu-idle",
        {"resources": {"resource/gpu_utilisation": 0.0}},
        {"resources": {"resource/gpu_utilisation": 6.0}},
        ON_GPU,
    ),
    case(
        "gpu-idle",
        {"resources": {"resource/gpu_utilisation": 3.0}},
        {"resources": {"resource/gpu_utilisation": 3.0}},
        ON_GPU,
        FACTS,
    ),
    case(
        "gpu-idle",
        {"resources": {"resource/gpu_utilisation": 0.0}},
        {"resources": {"resource/gpu_utilisation": jump(2, 0.0, 40.0)}, "samples_before": 10},  # while it is made
        ON_GPU,
    ),
    case(
        "gpu-idle",
        {
            "resources": {"resource/gpu_utilisation": now_and_then(60.0, 0.0)},
            "first_update": 1001,
            "samples_before": 40,
        },
        {
            "resources": {"resource/gpu_utilisation": lambda update: 90.0 if update % 9 == 0 else 0.0}
        },  # waits for worlds
        ON_GPU,
    ),
    case(
        "gpu-idle",
        {"resources": {"resource/gpu_utilisation": 0.0}},
        {
            "resources": {"resource/gpu_utilisation": jump(1001, 0.0, 60.0)},  # a run that was taken up, and compiles
            "first_update": 1001,
            "samples_before": 90,
        },
        ON_GPU,
    ),
    case("processes-replaced", {"others": lost(20, 60, 100)}, {"others": lost(10, 120, 230)}),
    case(
        "world-bound",
        {"metrics": {"time/collect_share": 0.9, "time/learn_share": 0.08}},
        {"metrics": {"time/collect_share": 0.75, "time/learn_share": 0.2}},
    ),
    case(
        "world-bound",
        {"metrics": {"time/collect_share": 0.9, "time/learn_share": 0.08}},
        {"metrics": {"time/collect_share": 0.9, "time/learn_share": 0.08}},
        FACTS,
        ON_TWO_CORES,
    ),
    case(
        "world-bound",
        {"metrics": {"time/idle_share": 0.6, "time/collect_share": 0.95}},
        {"metrics": {"time/idle_share": 0.3, "time/collect_share": 0.95}},
        OVERLAPPED,
    ),
    case(
        "world-bound",
        {"metrics": {"time/collect_share": 0.9, "time/learn_share": 0.08}},
        {"metrics": {"time/collect_share": 0.75, "time/learn_share": 0.2}},
        replace(OVERLAPPED, is_threaded=False),
    ),
    case(
        "world-bound",
        {"metrics": {"time/learner_waiting_share": 0.6}},
        {"metrics": {"time/learner_waiting_share": 0.6}, "resources": {"resource/system_cpu_percent_mean": 90.0}},
        WITH_ACTORS,
    ),
    case(
        "learner-bound",
        {"metrics": {"time/actors_waiting_share": 0.6}},
        {"metrics": {"time/actors_waiting_share": 0.4}},
        WITH_ACTORS,
    ),
    case(
        "learner-bound",
        {"metrics": {"time/actors_waiting_share": 0.6}},
        {"metrics": {"time/actors_waiting_share": 0.6}},
        WITH_ACTORS,
        replace(FACTS, actors=1),
    ),
    case(
        "learner-bound",
        {"metrics": {"time/learn_share": 0.9, "time/collect_share": 0.1}},
        {"metrics": {"time/learn_share": 0.9, "time/collect_share": 0.1}},
        FACTS,
        replace(FACTS, threads=8),
    ),
    case(
        "learner-bound",
        {"metrics": {"time/learn_share": 0.9, "time/collect_share": 0.1}},
        {"metrics": {"time/learn_share": 0.75, "time/collect_share": 0.25}},
        ON_GPU,
    ),
    case(
        "overlap-would-pay",
        {"metrics": {"time/learn_share": 0.4, "time/collect_share": 0.5}},
        {"metrics": {"time/learn_share": 0.2, "time/collect_share": 0.7}},
    ),
    case(
        "overlap-would-pay",
        {"metrics": {"time/learn_share": 0.4, "time/collect_share": 0.5}},
        {"metrics": {"time/learn_share": 0.4, "time/collect_share": 0.5, "time/total_seconds": 300.0}},
    ),
    case(
        "overlap-would-pay",
        {"metrics": {"time/learn_share": 0.4, "time/collect_share": 0.5}},
        {"metrics": {"time/learn_share": 0.4, "time/collect_share": 0.5}},
        FACTS,
        BY_PPO,
    ),
    case("much-beside", {"metrics": {"time/other_share": 0.6}}, {"metrics": {"time/other_share": 0.4}}),
    case(
        "much-beside",  # one long row in 25
        {"metrics": {"time/other_share": now_and_then(0.99, 0.03), "time/update_seconds": now_and_then(60.0, 1.0)}},
        {"metrics": {"time/other_share": now_and_then(0.99, 0.03), "time/update_seconds": now_and_then(10.0, 1.0)}},
    ),
)
