"""Which instructions a walk finds, and which it takes for entries."""

from assembler import assemble

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.program import Program
from respawn.worlds.mario.recompiler.walk import Walk

DISPATCHER = """
dispatcher:
    asl
    tay
    pla
    sta $04
    pla
    sta $05
    iny
    lda ($04),y
    sta $06
    iny
    lda ($04),y
    sta $07
    jmp ($06)
"""


def walk(source: str, seeds: tuple[str, ...] = ()) -> tuple[Walk, dict[str, int]]:
    """Walks a program that names `reset`, and `nmi` and `irq` if it has them."""
    vectors = [name if f"{name}:" in source else "reset" for name in ("nmi", "reset", "irq")]
    built = assemble(source + f"\n.org $FFFA\n.word {', '.join(vectors)}\n")
    program = Program(built.code, _engine.opcode_table())
    return Walk(program, [built.labels[name] for name in seeds]), built.labels


def test_it_begins_at_each_vector() -> None:
    found, at = walk("reset: jmp reset\nnmi: rti\nirq: rti\nelsewhere: rts")
    assert set(found.instructions) == {at["reset"], at["nmi"], at["irq"]}
    assert found.entries == {at["reset"], at["nmi"], at["irq"]}


def test_it_follows_both_ways_of_a_branch_and_the_one_of_a_jump() -> None:
    found, at = walk("reset: bne there\nhere: jmp end\n.byte $02\nthere: nop\n.byte $60\nend: rti\nnever: nop")
    assert {at["here"], at["there"], at["end"]} <= set(found.instructions)
    assert at["never"] not in found.instructions
    assert found.entries == {at["reset"]}


def test_a_call_and_what_follows_it_are_entries() -> None:
    found, at = walk("reset: jsr called\nback: jmp reset\ncalled: rts")
    assert found.entries == {at["reset"], at["called"], at["back"]}


def test_nothing_follows_what_never_goes_on() -> None:
    for ending in ("rts", "rti", "brk", "jam", "jmp ($10)"):
        found, at = walk(f"reset: {ending}\nbehind: nop")
        assert at["behind"] not in found.instructions, ending


def test_a_table_behind_a_call_is_read_up_to_the_first_place_it_leads_to() -> None:
    found, at = walk(
        f"reset: lda $10\njsr dispatcher\ntable: .word first, second, third\nfirst: rts\nsecond: nop\nrts\n"
        f"{DISPATCHER}\nthird: rts\n"
    )
    assert {at["first"], at["second"], at["third"], at["dispatcher"]} <= found.entries
    assert not set(range(at["table"], at["first"])) & set(found.instructions)
    assert found.entries <= set(found.instructions)


def test_a_table_ends_where_no_program_is_meant() -> None:
    found, at = walk(f"reset: jsr dispatcher\n.word first, $0200, second\nrts\n{DISPATCHER}\nfirst: rts\nsecond: rts")
    assert at["first"] in found.entries
    assert at["second"] not in found.instructions


def test_tables_within_what_tables_lead_to_are_read_too() -> None:
    found, at = walk(
        f"reset: jsr dispatcher\n.word outer\nouter: jsr dispatcher\n.word inner\n{DISPATCHER}\ninner: rts"
    )
    assert {at["outer"], at["inner"]} <= found.entries


def test_a_routine_that_pulls_but_does_not_jump_is_an_ordinary_one() -> None:
    found, at = walk("reset: jsr pulls\nback: jmp reset\npulls: pla\npla\npha\njmp ($06)")
    assert at["back"] in found.instructions


def test_what_was_seen_to_run_is_entered_where_nothing_known_leads_to_it() -> None:
    found, at = walk("reset: nop\nknown: jmp reset\nhidden: inx\nrest: rts", ("known", "hidden", "rest"))
    assert {at["hidden"], at["rest"]} <= set(found.instructions)
    assert found.entries == {at["reset"], at["hidden"]}
