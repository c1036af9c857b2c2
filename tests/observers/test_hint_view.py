import json
import math

import pytest
from hint_streams import FACTS

from respawn.contracts.records import EvaluationReport, ResourceReport, UpdateReport
from respawn.observers.hint_view import BLOCK_ROWS, MOST_BLOCKS, MOST_RESOURCES, RECENT_ROWS, HintView, JudgedRow


def view_of(*rows: dict[str, float], first: int = 1) -> HintView:
    view = HintView(FACTS)
    note(view, *rows, first=first)
    return view


def note(view: HintView, *rows: dict[str, float], first: int = 1) -> None:
    for update, metrics in enumerate(rows, start=first):
        view.note_update(UpdateReport(update, 10 * update, 0, 2 * update, metrics))


def losses(*values: float) -> list[dict[str, float]]:
    return [{"loss/value": value} for value in values]


def test_the_last_rows_of_a_metric():
    view = view_of(*losses(1.0, 2.0, 3.0, 10.0))
    assert view.recent("loss/value", 3) == [2.0, 3.0, 10.0]
    assert view.middle("loss/value", 3) == 3.0 and view.mean("loss/value", 3) == 5.0
    assert view.latest("loss/value") == 10.0
    assert (view.update, view.decisions, view.episodes) == (4, 40, 8)


def test_where_there_are_too_few_rows_nothing_is_said():
    view = view_of(*losses(1.0, 2.0))
    assert view.recent("loss/value", 3) is view.middle("loss/value", 3) is view.mean("loss/value", 3) is None
    empty = HintView(FACTS)
    assert empty.latest("loss/value") is None and empty.blocks("loss/value") == []
    assert empty.action_shares(1) == {} and empty.resource("resource/threads") is None


@pytest.mark.parametrize("missing", [{}, {"loss/value": math.nan}, {"loss/value": math.inf}])
def test_a_row_that_lacks_it_or_has_no_number_is_as_if_it_were_not_there(missing):
    view = view_of(*losses(1.0), missing, *losses(3.0))
    assert view.recent("loss/value", 3) is None and view.recent("loss/value", 1) == [3.0]


def test_only_so_many_rows_are_remembered():
    view = view_of(*losses(*range(RECENT_ROWS + 30)))
    assert view.recent("loss/value", RECENT_ROWS) == [float(value) for value in range(30, RECENT_ROWS + 30)]
    with pytest.raises(AssertionError, match="only 100 rows"):
        view.recent("loss/value", RECENT_ROWS + 1)


def test_what_no_condition_asks_for_is_not_kept():
    view = view_of({"loss/value": 1.0, "loss/other": 2.0, "policy/action_share_3": 0.5, "world/forward_share": 0.25})
    assert view.latest("loss/other") is None
    assert view.latest("policy/action_share_3") == 0.5
    assert view.latest("world/forward_share") == 0.25  # the one that FACTS names as progress


def test_medians_of_blocks_reach_back_further_than_rows():
    rows = [float(block) for block in range(MOST_BLOCKS + 10) for _ in range(BLOCK_ROWS)]
    view = view_of(*losses(*rows))
    assert view.blocks("loss/value") == [(float(block),) for block in range(10, MOST_BLOCKS + 10)]
    assert view.earlier("loss/value") == [float(block) for block in range(10, MOST_BLOCKS + 9)]
    assert view.earlier("return/mean") == []


def test_a_block_of_which_a_row_is_missing_has_no_median():
    view = view_of(*losses(*range(BLOCK_ROWS - 1)), {}, *losses(*range(BLOCK_ROWS)))
    assert view.earlier("loss/value") == []
    (first, _), (second, unknown) = view.blocks("loss/value", "return/mean")
    assert math.isnan(first) and second == (BLOCK_ROWS - 1) / 2 and math.isnan(unknown)


def test_blocks_that_an_older_version_saved_without_the_unknown_ones_go_together_again():
    view = view_of(*losses(*range(2 * BLOCK_ROWS)))
    state = view.state()
    state["blocks"]["return/mean"] = [7.0]
    view.restore(state)
    (_, unknown), (_, known) = view.blocks("loss/value", "return/mean")
    assert math.isnan(unknown) and known == 7.0


def test_a_long_row_counts_for_as_long_as_it_took():
    rows = [
        {"time/other_share": 0.0, "time/update_seconds": 1.0},
        {"time/other_share": 0.9, "time/update_seconds": 9.0},
    ]
    assert view_of(*rows).mean_by_time("time/other_share", 2) == pytest.approx(0.81)
    assert view_of(*rows).mean("time/other_share", 2) == pytest.approx(0.45)
    assert view_of({"time/other_share": 0.5}, rows[0]).mean_by_time("time/other_share", 2) is None


def test_evaluations_stand_beside_the_training_they_came_after():
    view = HintView(FACTS)
    for update, judged in ((1, 5.0), (2, 9.0), (3, math.nan), (4, 2.0)):
        note(view, {"return/mean": float(update), "return/p10": update / 10}, first=update)
        view.note_evaluation(EvaluationReport(update, 0, {"evaluation/return_mean": judged}))
    view.note_evaluation(EvaluationReport(4, 0, {"evaluation/cleared": 1.0}))
    rows = [(row.update, row.judged, row.trained, row.trained_low) for row in view.evaluations]
    assert rows == [(1, 5.0, 1.0, 0.1), (2, 9.0, 2.0, 0.2), (4, 2.0, 4.0, 0.4)]
    assert view.best_evaluation == (2, 9.0) and view.worst_evaluation == 2.0


def test_the_first_of_equal_evaluations_is_the_best():
    view = HintView(FACTS)
    for update in (1, 2):
        view.note_evaluation(EvaluationReport(update, 0, {"evaluation/return_mean": 5.0}))
    assert view.best_evaluation == (1, 5.0)


@pytest.mark.parametrize("unfinished", [{}, {"evaluation/unfinished": 0.0}])
def test_an_evaluation_stands_beside_what_was_trained(unfinished):
    view = view_of({"return/mean": 7.0, "return/p10": 6.0})
    view.note_evaluation(EvaluationReport(1, 0, {"evaluation/return_mean": 5.0, **unfinished}))
    assert list(view.evaluations) == [JudgedRow(1, 5.0, 7.0, 6.0)]


def test_an_evaluation_whose_episodes_were_cut_compares_with_no_training_and_is_one_all_the_same():
    view = view_of({"return/mean": 7.0, "return/p10": 6.0})
    view.note_evaluation(EvaluationReport(1, 0, {"evaluation/return_mean": 5.0, "evaluation/unfinished": 1.0}))
    assert list(view.evaluations) == [JudgedRow(1, 5.0, None, None)] and view.best_evaluation == (1, 5.0)


def test_actions_by_how_often_they_were_taken():
    rows = [{"policy/action_share_0": 0.2, "policy/action_share_1": 0.8}, {"policy/action_share_0": 0.4}]
    assert view_of(*rows).action_shares(2) == {"0": pytest.approx(0.3)}
    assert view_of(*rows[:1]).action_shares(1) == {"0": 0.2, "1": 0.8}


def test_rows_in_which_anything_was_forced_are_known():
    rows = [{"collect/scripted_fraction": share} for share in (0.5, 0.0, 0.0)]
    assert not view_of(*rows).was_scripted(2) and view_of(*rows).was_scripted(3)


def test_resources_are_those_of_this_process():
    view = HintView(FACTS)
    for sample in range(MOST_RESOURCES + 5):
        view.note_resources(ResourceReport(0, 0, {"resource/threads": float(sample), "resource/gpu_watts": math.nan}))
    assert view.resource("resource/threads", 2) == [MOST_RESOURCES + 3.0, MOST_RESOURCES + 4.0]
    assert view.resource("resource/gpu_watts") is None
    assert view.resource("resource/threads", MOST_RESOURCES + 1) is None
    again = HintView(FACTS)
    again.restore(view.state())
    assert again.resource("resource/threads") is None


def test_state_is_plain_data_and_restores_everything_else():
    view = view_of(*losses(*range(50)), {"return/mean": 3.0}, {"loss/value": math.nan})
    view.note_evaluation(EvaluationReport(52, 0, {"evaluation/return_mean": 7.0}))
    view.replacements.append((52, "workers/1.log"))
    state = json.loads(json.dumps(view.state()))
    again = view_of(*losses(1.0, 2.0), first=900)
    again.restore(state)
    assert again.state() == view.state()
    assert again.evaluations == view.evaluations and again.replacements == view.replacements
    assert (again.update, again.decisions, again.episodes) == (52, 520, 104)
    for one in (view, again):
        note(one, *losses(*range(60)), first=53)
    assert again.state() == view.state()
    assert again.recent("loss/value", 60) == view.recent("loss/value", 60) is not None
