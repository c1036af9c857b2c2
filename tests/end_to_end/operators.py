"""What an operator sees of a run that met with trouble, and what must be there whatever the trouble was."""

from respawn.checkpoints.store import saved, verify
from respawn.contracts.records import Event
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_episodes, read_evaluations, read_events, read_updates


def alarms(folder: RunFolder) -> list[Event]:
    """Warnings and errors, but for hints, which judge learning."""
    events = [timed.event for timed in read_events(folder)]
    return [event for event in events if event.level != "info" and event.kind != "hint"]


def the_alarm(folder: RunFolder, kind: str) -> Event:
    """The one there is, which must be of this kind."""
    told = alarms(folder)
    assert [event.kind for event in told] == [kind], [(event.kind, event.message) for event in told]
    return told[0]


def whole(folder: RunFolder) -> list[str]:
    """The checkpoints; every one of them, and every row but one that was torn at the end, must be whole."""
    names = [path.name for path in saved(folder.checkpoints)]
    for name in names:
        verify(folder.checkpoints / name)
    made = [report.update for report in read_updates(folder)]
    assert made == list(range(1, len(made) + 1))
    assert int(names[-1][1:]) <= len(made)
    for read in (read_episodes, read_evaluations, read_events):
        list(read(folder))
    return names
