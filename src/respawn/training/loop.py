"""THE loop."""

from collections.abc import Iterator

from respawn.contracts.records import UpdateReport
from respawn.training.run import Run


def updates(run: Run) -> Iterator[UpdateReport]:
    """Yield one report per learning update until a limit is reached.

    With lag 0 a rollout is gathered, then learned from. With lag 1 the next one is gathered meanwhile, with the weights
    as they were before: which weights gather which rollout depends on the update's number alone, so a run is
    repeatable whether or not a thread does the gathering.
    """
    run.reporter.begin()
    run.make_up()
    while not run.cadence.finished(run.clock):
        run.at_boundary = False
        rollout = run.pending.rollout
        if rollout is None:
            run.collector.start(run.order())
            rollout = run.collector.finish()
        if run.lag == 1:
            run.collector.start(run.order())
        knobs = run.director.knobs(run.clock)
        learned = run.learn(rollout, knobs)
        with run.timed("wait"):
            run.pending.rollout = run.collector.finish() if run.lag == 1 else None

        report, episodes = run.reporter.advance(rollout, learned, knobs, run.taken_seconds())
        run.tell(report)
        run.consider(report)
        for episode in episodes:
            run.tell(episode)
        run.check_rows()

        # Nothing is in flight from here on: the one place where state may be judged and saved.
        run.at_boundary = True
        run.judge()
        if run.cadence.checkpoint_due(run.clock):
            run.save()
        run.film()
        yield report
