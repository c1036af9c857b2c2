"""The schedules of v40, the run that the school of fish was last described by, as data.

`SCHEDULES` is what that run was given, gate and units included, with the one exception that the learning rate falls
over the whole run and not to zero in each phase. `SOUND_GATE` is a gate for the same stages that can open.
"""

from respawn.schedules.boost import AdaptiveBoostConfig, BoostConfig, PenaltyCap
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.gate_config import (
    DEATH_P10,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_RATIO,
    SURVIVAL_WORST,
    Criterion,
    GateConfig,
    KindTolerance,
)
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage, StartWarningConfig
from respawn.schedules.phases import PenaltyLock, Phase
from respawn.schedules.windows import ValueWindow

PLANNED_UPDATES = 60

PHASES = (
    Phase(9, size=15, penalty=0.0),
    Phase(10, size=20, penalty=0.02),
    # The plateaus of phases without a ramp were given and had no effect; they are kept as they were.
    Phase(9, size=25, penalty=0.04, plateau_updates=6, boost=0.76, boost_floor=0.76),
    Phase(8, size=25, penalty=0.05, plateau_updates=6, boost=0.78, boost_floor=0.78),
    Phase(8, size=25, penalty=0.055, plateau_updates=4, boost=0.82, boost_floor=0.80),
    Phase(8, size=25, penalty=0.06, ramp=True, boost=0.82, boost_floor=0.80),
    Phase(8, size=25, penalty=0.065, ramp=True, boost=0.82, boost_floor=0.80),
)

LEGACY_GATE = GateConfig(
    allowance=(4, 5, 6, 7),
    mode="legacy",
    required_successes=2,
    freeze_updates=5,
    success_freeze_updates=2,
    failure_tolerance=2,
    tolerances=(KindTolerance("main", 3),),
    success=(
        Criterion(STEP_ONE_COUNT, at_most=18),
        Criterion(STEP_ONE_RATIO, at_most=0.02),
        Criterion(EARLY_DEATH, at_most=0.10, window=3, rule="last_and_median", history="kind"),
        Criterion(EARLY_DEATH, at_most=0.13, window=3, rule="last_and_median", history="kind", kind="ne"),
        Criterion(EARLY_DEATH, at_most=0.10, window=4, rule="last_and_median", history="kind", kind="main"),
        Criterion(DEATH_P10, at_least=70.0, window=4, rule="median"),
    ),
    failure=(Criterion(DEATH_P10, at_least=95.0), Criterion(SURVIVAL_WORST, at_least=0.5)),
)

SOUND_GATE = GateConfig(allowance=(4, 5, 6, 7))

STAGES = (
    HardStartStage(8, "v34-ne", "ne"),
    HardStartStage(6, "v34-ne", "ne"),
    HardStartStage(15, "v34-ne", "main"),  # the file of the other kind, as it was
    HardStartStage(6, "v34-ne", "ne"),
    HardStartStage(24, "v32-stage1", "main"),
    HardStartStage(16, "v32-stage1", "main"),
    HardStartStage(25, "v32-stage2", "main"),
    HardStartStage(20, "v33-stage3", "main"),
)

SCHEDULES = SchedulesConfig(
    learning_rate=CurveConfig("warm_cosine"),
    entropy_windows=(ValueWindow(16, 24, 0.03), ValueWindow(25, 32, 0.02)),
    curriculum=CurriculumConfig(
        phases=PHASES,
        penalty_lock=PenaltyLock(0.04, 28),
        boost=BoostConfig(caps=(PenaltyCap(0.05, 0.8),), adaptive=AdaptiveBoostConfig()),
        gate=LEGACY_GATE,
        hard_starts=HardStartsConfig(
            stages=STAGES,
            unit="episodes",
            warning=StartWarningConfig(ratio=0.70, patience=2),
        ),
    ),
)
