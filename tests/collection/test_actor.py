import torch
from gathering import GRU, make_model, make_order

from respawn.collection.actor import Actor
from respawn.maths.seeding import make_generator
from respawn.testing.suites.saveable import check_saveable, freeze

OBSERVATION = torch.linspace(-1, 1, 12).reshape(3, 4)


def make_actor():
    actor = Actor(make_model(), 3, make_generator(0, "actor"))
    actor.load(make_order(0).weights)
    return actor


def test_memory_and_dice_can_be_saved():
    def advance(actor):
        actor.load(make_order(0).weights)  # an order comes before each rollout, and draws the noise anew
        for _ in range(4):
            actor.decide(OBSERVATION)
        actor.forget(torch.tensor([False, True, False]))

    check_saveable(make_actor, advance, lambda actor: freeze(actor.state()))


def test_only_lanes_that_ended_are_forgotten():
    actor = make_actor()
    actor.decide(OBSERVATION)
    remembered = actor.memory["hidden"]
    actor.forget(torch.tensor([False, True, False]))
    assert torch.equal(actor.memory["hidden"][[0, 2]], remembered[[0, 2]])
    assert not actor.memory["hidden"][1].any()
    assert remembered[1].any()
    actor.forget_all()
    assert not actor.memory["hidden"].any()


def test_loading_draws_noise_anew_from_its_own_dice():
    first, second = make_actor(), make_actor()
    values = [actor.decide(OBSERVATION).values for actor in (first, second)]
    assert torch.equal(*values)
    first.load(make_order(0).weights)
    first.forget_all()
    assert not torch.equal(first.decide(OBSERVATION).values, values[0])
    assert GRU.noisy


def test_a_memory_that_is_not_finite_does_not_outlive_its_rollout():
    actor, undisturbed = make_actor(), make_actor()
    for each in (actor, undisturbed):
        each.decide(OBSERVATION)
    actor.memory["hidden"][1, 0] = float("nan")
    before = actor.memory["hidden"].clone()
    for each in (actor, undisturbed):
        each.load(make_order(0).weights)
    assert torch.equal(actor.memory["hidden"][[0, 2]], before[[0, 2]])
    assert not actor.memory["hidden"][1].any()
    decided, expected = actor.decide(OBSERVATION), undisturbed.decide(OBSERVATION)
    assert torch.equal(decided.values[[0, 2]], expected.values[[0, 2]])  # nobody else is disturbed
    assert decided.values.isfinite().all()
