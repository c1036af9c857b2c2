from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.observers.whereabouts import Whereabouts


def test_the_last_update_counts_and_nothing_else():
    where = Whereabouts()
    assert not where.are_known and where.update_and_decisions() == (0, 0)
    where.note(UpdateReport(3, 30, 120, 1, {}))
    where.note(EvaluationReport(9, 90, {}))
    assert where.are_known and where.update_and_decisions() == (3, 30)


def test_a_run_that_is_taken_up_is_where_it_was():
    where, again = Whereabouts(), Whereabouts()
    where.note(UpdateReport(3, 30, 120, 1, {}))
    again.restore(where.state())
    assert again.are_known and again.update_and_decisions() == (3, 30)


def test_until_anything_is_known_it_is_where_it_begins():
    where = Whereabouts((7, 70))
    assert not where.are_known and where.update_and_decisions() == (7, 70)
    where.note(UpdateReport(8, 80, 320, 1, {}))
    assert where.are_known and where.update_and_decisions() == (8, 80)


def test_a_checkpoint_of_an_older_version_does_not_know():
    where = Whereabouts()
    where.restore({})
    assert not where.are_known
