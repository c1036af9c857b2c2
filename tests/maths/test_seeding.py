import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from respawn.maths.seeding import derive_seed, generator_state, make_generator, restore_generator


def test_a_derived_seed_never_changes():
    # Checkpoints and published results depend on this number: a change here is a change of every run.
    assert derive_seed(7, "actor", 3) == 4_746_020_270_544_706_614


@settings(max_examples=50, derandomize=True)
@given(st.integers(0, 2**63 - 1), st.lists(st.text() | st.integers(0, 100), max_size=3))
def test_a_derived_seed_has_63_bits(seed: int, names: list[str | int]):
    assert 0 <= derive_seed(seed, *names) < 2**63


def test_names_are_told_apart():
    seeds = [
        derive_seed(0),
        derive_seed(1),
        derive_seed(0, "a"),
        derive_seed(0, "a", "b"),
        derive_seed(0, "ab"),
        derive_seed(0, "1"),
        derive_seed(0, 1),
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_generator_goes_on_from_where_its_state_was_asked():
    generator = make_generator(0, "noise")
    torch.rand(3, generator=generator)
    state = generator_state(generator)
    expected = torch.rand(5, generator=generator)
    other = make_generator(99)
    restore_generator(other, state)
    assert torch.equal(torch.rand(5, generator=other), expected)


def test_making_a_generator_leaves_the_global_one_alone():
    before = torch.get_rng_state()
    torch.rand(3, generator=make_generator(0, "x"))
    assert torch.equal(torch.get_rng_state(), before)
