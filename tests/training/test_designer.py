"""The designer's side of a window, with a scripted writer and real sandbox processes."""

from collections.abc import Iterator

import pytest

from spadework.harness.errors import InputError
from spadework.harness.sandbox import Sandbox
from spadework.training.designer import DesignerSettings, Proposal
from spadework.training.memory import EnvironmentMemory

from .scripted_designer import BROKEN, HINT, SKILLS, Script, corpus, designer, guess


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def numbered(bad: int = 0) -> Script:
    """Broken programs first, then good ones, each with a name of its own."""
    count = iter(range(10_000))
    return Script(lambda request, prompt: BROKEN if (number := next(count)) < bad else guess(f"G{number}"))


def propose(script: Script, sandbox: Sandbox, step: int = 0, **settings: object) -> Proposal:
    return designer(script, corpus(), **settings).propose(step, EnvironmentMemory(), sandbox)


def test_every_slot_is_filled_with_the_skills_in_turn_and_a_hint_that_passed(sandbox: Sandbox) -> None:
    script = numbered()
    drafts, counts = propose(script, sandbox)
    assert [(d.slot, d.attempt, d.skill) for d in drafts] == [(slot, 0, SKILLS[slot % 2]) for slot in range(4)]
    assert [d.program.source for d in drafts if d.program] == [guess(f"G{n}") for n in range(4)]
    assert {d.program.hint for d in drafts if d.program} == {HINT}
    tokens = sum(len(guess(f"G{n}")) + 1 for n in range(4))
    assert counts["proposed"] == counts["valid"] == counts["hinted"] == 4
    assert counts["designer_tokens"] == tokens and counts["hint_tokens"] == 4 * (len(HINT) + 1)


def test_what_is_trained_is_the_prompt_and_the_completion_as_they_were_drawn(sandbox: Sandbox) -> None:
    script = numbered()
    first = propose(script, sandbox).drafts[0].trajectory
    request = script.model.requests[0]
    drawn = len(guess("G0")) + 1
    assert first.ids[: len(request.ids)] == tuple(request.ids) and first.temperature == request.sampling.temperature
    assert first.generated == (False,) * len(request.ids) + (True,) * drawn
    assert len(first.logprobs) == len(first.ids)


def test_a_rejected_slot_is_tried_again_and_its_drafts_stay_with_their_reason(sandbox: Sandbox) -> None:
    drafts, counts = propose(numbered(bad=5), sandbox)
    assert [(d.slot, d.attempt, d.reason) for d in drafts if d.program is None] == [
        (0, 0, "does_not_load"), (1, 0, "does_not_load"), (2, 0, "does_not_load"), (3, 0, "does_not_load"),
        (0, 1, "does_not_load"),
    ]  # fmt: skip
    assert [(d.slot, d.attempt) for d in drafts if d.program] == [(1, 1), (2, 1), (3, 1), (0, 2)]
    assert (counts["proposed"], counts["valid"], counts["rejected_does_not_load"]) == (9, 4, 5)


def test_a_slot_gets_no_more_than_its_attempts_and_stays_empty(sandbox: Sandbox) -> None:
    drafts, counts = propose(numbered(bad=10_000), sandbox, attempts=5)
    assert len(drafts) == counts["proposed"] == counts["rejected_does_not_load"] == 4 * 5
    assert (counts["valid"], counts["hinted"], counts["hint_tokens"]) == (0, 0, 0)


def test_a_text_that_stands_in_the_window_already_is_a_duplicate(sandbox: Sandbox) -> None:
    drafts, counts = propose(Script(lambda request, prompt: guess("Same")), sandbox, attempts=3)
    assert (counts["valid"], counts["rejected_duplicate"], counts["proposed"]) == (1, 3 + 3 + 3, 10)
    assert [d.slot for d in drafts if d.program] == [0]


def test_text_that_is_no_source_is_a_rejection_of_its_own(sandbox: Sandbox) -> None:
    _, counts = propose(Script(lambda request, prompt: "<think>a class"), sandbox, attempts=1)
    assert counts["rejected_unfinished_thought"] == 4


def test_every_try_has_a_passage_and_a_seed_of_its_own_and_the_same_step_the_same_ones(sandbox: Sandbox) -> None:
    once, again, later = numbered(bad=8), numbered(bad=8), numbered(bad=8)
    first = propose(once, sandbox)
    assert propose(again, sandbox) == first
    propose(later, sandbox, step=2)
    tries = [request.seed for request in once.model.requests]
    assert len(set(tries)) == len(tries) and tries == [request.seed for request in again.model.requests]
    assert not set(tries) & {request.seed for request in later.model.requests}
    assert len({draft.passage for draft in first.drafts}) > 8


def test_without_the_corpus_the_passage_is_missing_from_the_prompt_and_nothing_else_changes(sandbox: Sandbox) -> None:
    grounded, bare = numbered(), numbered()
    kept, gone = propose(grounded, sandbox), propose(bare, sandbox, corpus=False)
    passages = {passage.id: passage.text for passage in corpus().passages}
    for draft, long, short in zip(kept.drafts, grounded.prompts("D"), bare.prompts("D"), strict=True):
        assert draft.passage is not None and long.replace(passages[draft.passage], "") == short
    assert {draft.passage for draft in gone.drafts} == {None}
    assert [r.seed for r in grounded.model.requests] == [r.seed for r in bare.model.requests]


def test_the_hint_writer_sees_the_source_and_nothing_else(sandbox: Sandbox) -> None:
    script = numbered()
    drafts = propose(script, sandbox).drafts
    assert script.prompts("W") == [f"W{draft.source}|" for draft in drafts]


def test_a_hint_that_leaks_is_written_again_and_given_up_after_the_attempts(sandbox: Sandbox) -> None:
    leak = " ".join(map(str, range(100, 1000)))
    hints = [leak, HINT, leak, HINT, leak, HINT]
    drafts, counts = propose(Script(numbered().write, hints), sandbox, hint_attempts=2, hint_max_new_tokens=4000)
    assert [(d.program.hint, d.hint_rejected) for d in drafts if d.program] == [
        (None, "instance_value"), (HINT, ""), (HINT, ""), (HINT, ""),
    ]  # fmt: skip
    assert (counts["hinted"], counts["hint_instance_value"]) == (3, 1)
    assert counts["hint_tokens"] == 3 * (len(leak) + 1) + 3 * (len(HINT) + 1)


def test_with_hints_off_none_is_written(sandbox: Sandbox) -> None:
    script = numbered()
    drafts, counts = propose(script, sandbox, hints=False)
    assert script.prompts("W") == [] and "hinted" not in counts
    assert [d.program.hint for d in drafts if d.program] == [None] * 4


def test_programs_carry_the_turn_cap_they_were_validated_with(sandbox: Sandbox) -> None:
    drafts, _ = propose(numbered(), sandbox, max_turns=3)
    assert {d.program.max_turns for d in drafts if d.program} == {3}


@pytest.mark.parametrize(
    ("wrong", "said"), [({"skills": ("Cooking",)}, "Cooking"), ({"skills": ()}, "none"), ({"attempts": 0}, "attempts")]
)
def test_settings_without_meaning_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        DesignerSettings(**wrong)  # type: ignore[arg-type]
