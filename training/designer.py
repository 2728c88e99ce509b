"""The Environment Designer's side of a window: programs, the validator's verdict on them, then hints and the leak
check.

Every try is a completion of its own with a fresh passage and fresh examples from the memory; what fails is kept as a
draft with its reason, because a rejected program is a result too. The hint is written in a separate call that sees
the source and nothing else. It does not play, pay or train.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Sequence

from ..harness.config import Section
from ..harness.dialect import Dialect, Role
from ..harness.errors import InputError
from ..harness.sandbox import Sandbox, ValidationSettings
from ..harness.seeds import derive
from ..harness.types import Completion, Model, Program, Request, Sampling, Trajectory
from .corpus import Corpus
from .hints import LeakSettings, check_hints
from .memory import EnvironmentMemory
from .proposal import Rejection, source_of
from .skills import SKILLS, active_skills, skill_of_slot
from .validation import validate

DUPLICATE = "duplicate"


class DesignerSettings(Section, frozen=True, kw_only=True):
    """How a window of environments is written. The defaults are the paper's games setting where it states one."""

    environments: int = 24
    """Slots of a window."""
    attempts: int = 5
    """Tries a slot gets before it stays empty."""
    skills: tuple[str, ...] = SKILLS
    skills_per_window: int = 3
    """Skills that are active at a time; they rotate."""
    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_new_tokens: int = 16_384
    hints: bool = True
    """Off: no hint is written and no hinted play is made (rewards that read a regret then pay nothing)."""
    hint_attempts: int = 2
    """Tries at a hint that the leak check accepts; after them the environment has none."""
    hint_temperature: float = 0.3
    hint_max_new_tokens: int = 4096
    max_turns: int = 25
    """Turn cap of an episode."""
    corpus: bool = True
    """Off: the passage is missing from the prompt and nothing else changes."""
    memory: bool = True
    memory_capacity: int = 200
    memory_positives: int = 2

    def __post_init__(self) -> None:
        unknown = [skill for skill in self.skills if skill not in SKILLS]
        if unknown or not self.skills:
            raise InputError(f"designer.skills: {unknown or 'none'} cannot be used; choose from {', '.join(SKILLS)}.")
        if self.environments < 1 or self.attempts < 1:
            raise InputError("designer: set environments and attempts to 1 or more.")
        check_sampling("designer", self.temperature, self.top_p, self.top_k)
        check_sampling("designer (hint)", self.hint_temperature)
        if min(self.max_new_tokens, self.hint_max_new_tokens, self.max_turns, self.memory_capacity) < 1:
            raise InputError(
                "designer: set max_new_tokens, hint_max_new_tokens, max_turns and memory_capacity to 1 or more."
            )
        if self.memory_positives < 0 or self.hint_attempts < 0:
            raise InputError("designer: set memory_positives and hint_attempts to 0 or more.")


def check_sampling(section: str, temperature: float, top_p: float = 1.0, top_k: int = 0) -> None:
    """InputError for what nobody can draw with."""
    if not (temperature >= 0 and 0 < top_p <= 1 and top_k >= 0):
        raise InputError(f"{section}: set temperature and top_k to 0 or more, and top_p above 0 and to at most 1.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """One try of the designer. `program` is None when it was rejected, `reason` says why."""

    slot: int
    attempt: int
    skill: str
    passage: str | None
    """Id of the passage."""
    trajectory: Trajectory
    source: str
    program: Program | None = None
    reason: str = ""
    hint_rejected: str = ""
    """Reason of the last hint that was rejected, empty when none was."""
    author: Literal["policy", "other"] = "policy"


class Proposal(NamedTuple):
    """All drafts of a window, and the counts for the metrics line."""

    drafts: tuple[Draft, ...]
    counts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Designer:
    """Who writes, in which prompt format, from which corpus. `corpus` None: no passages exist (settings.corpus off)."""

    model: Model
    dialect: Dialect
    corpus: Corpus | None
    settings: DesignerSettings
    window: int
    seed: int
    author: Literal["policy", "other"] = "policy"

    def propose(self, step: int, memory: EnvironmentMemory, sandbox: Sandbox) -> Proposal:
        """The window that begins at `step`."""
        active = active_skills(self.settings.skills, step, self.window, self.settings.skills_per_window)
        drafts: list[Draft] = []
        filled: dict[int, Draft] = {}
        for attempt in range(self.settings.attempts):
            empty = [slot for slot in range(self.settings.environments) if slot not in filled]
            if not empty:
                break
            tried = self._write(step, attempt, [(slot, skill_of_slot(active, slot)) for slot in empty], memory)
            judged = self._judge(tried, {d.program.id for d in filled.values() if d.program}, sandbox)
            drafts += judged
            filled |= {draft.slot: draft for draft in judged if draft.program is not None}
        if not self.settings.hints:
            return Proposal(tuple(drafts), _counts(drafts))
        hinted, tokens = self._with_hints(step, list(filled.values()), sandbox)
        final = tuple(hinted[d.slot] if d.program is not None else d for d in drafts)
        return Proposal(final, _counts(final) | _hint_counts(list(hinted.values())) | {"hint_tokens": tokens})

    def _write(
        self, step: int, attempt: int, slots: Sequence[tuple[int, str]], memory: EnvironmentMemory
    ) -> list[Draft]:
        s = self.settings
        sampling = self._sampling("designer", s.temperature, s.max_new_tokens, s.top_p, s.top_k)
        passages = [self._passage(step, slot, attempt) for slot, _ in slots]
        requests = []
        for (slot, skill), (_, text) in zip(slots, passages, strict=True):
            seed = derive(self.seed, "designer", step, slot, attempt)
            examples = memory.examples(skill, s.memory_positives, seed=seed) if s.memory else ()
            requests.append(Request(ids=self.dialect.designer(skill, text, examples), sampling=sampling, seed=seed))
        drafts = []
        for (slot, skill), (passage, _), request, completion in zip(
            slots, passages, requests, self.model.generate(requests), strict=True
        ):
            source = source_of(self.dialect.decode(completion.ids))
            trajectory = _trajectory(request, completion)
            text, reason = ("", str(source.reason)) if isinstance(source, Rejection) else (source, "")
            drafts.append(Draft(slot=slot, attempt=attempt, skill=skill, passage=passage, trajectory=trajectory,
                                source=text, reason=reason, author=self.author))  # fmt: skip
        self.model.forget()
        return drafts

    def _passage(self, step: int, slot: int, attempt: int) -> tuple[str | None, str | None]:
        """(id, text) of the passage; the same passage would be drawn with the corpus off, and is then not shown."""
        if not self.settings.corpus or self.corpus is None:
            return None, None
        passage = self.corpus.passage(self.seed, step, slot * self.settings.attempts + attempt)
        return passage.id, passage.text

    def _judge(self, drafts: Sequence[Draft], taken: set[str], sandbox: Sandbox) -> list[Draft]:
        """The validator's verdicts; a text that already stands in this window is a duplicate."""
        candidates = [draft for draft in drafts if not draft.reason]
        settings = ValidationSettings(max_turns=self.settings.max_turns)
        verdicts = dict(zip([d.slot for d in candidates], validate([d.source for d in candidates], sandbox, settings)))
        judged = []
        for draft in drafts:
            verdict = verdicts.get(draft.slot)
            if verdict is None:
                judged.append(draft)
            elif isinstance(verdict, Rejection):
                judged.append(replace(draft, reason=str(verdict.reason)))
            elif verdict.id in taken:
                judged.append(replace(draft, reason=DUPLICATE))
            else:
                taken.add(verdict.id)
                judged.append(replace(draft, program=verdict.program(draft.skill)))
        return judged

    def _with_hints(self, step: int, drafts: list[Draft], sandbox: Sandbox) -> tuple[dict[int, Draft], int]:
        """The drafts by slot, with a hint where one passed the leak check, and the tokens of every hint's try."""
        tokens = 0
        done: dict[int, Draft] = {draft.slot: draft for draft in drafts}
        open_slots = list(done)
        for attempt in range(self.settings.hint_attempts):
            if not open_slots:
                break
            programs, drawn = self._hints(step, attempt, [done[slot] for slot in open_slots])
            tokens += drawn
            verdicts = check_hints(programs, sandbox, derive(self.seed, "leak", step, attempt), LeakSettings())
            for slot, program, verdict in zip(list(open_slots), programs, verdicts, strict=True):
                if verdict.reason is None:
                    done[slot] = replace(done[slot], program=program, hint_rejected="")
                    open_slots.remove(slot)
                else:
                    done[slot] = replace(done[slot], hint_rejected=str(verdict.reason))
        return done, tokens

    def _hints(self, step: int, attempt: int, drafts: Sequence[Draft]) -> tuple[list[Program], int]:
        """The drafts' programs, each with a hint to be checked, and the tokens that were drawn."""
        s = self.settings
        sampling = self._sampling("hint", s.hint_temperature, s.hint_max_new_tokens)
        requests = [
            Request(ids=self.dialect.hint_writer(draft.source), sampling=sampling,
                    seed=derive(self.seed, "hint", step, draft.slot, attempt))
            for draft in drafts
        ]  # fmt: skip
        completions = self.model.generate(requests)
        self.model.forget()
        said = [self.dialect.decode(completion.ids).strip() for completion in completions]
        programs = [draft.program for draft in drafts if draft.program is not None]
        written = [replace(program, hint=text or None) for program, text in zip(programs, said, strict=True)]
        return written, sum(len(completion.ids) for completion in completions)

    def _sampling(self, role: Role, temperature: float, tokens: int, top_p: float = 1.0, top_k: int = 0) -> Sampling:
        return Sampling(
            temperature=temperature, top_p=top_p, top_k=top_k, max_new_tokens=tokens, stop=self.dialect.stops(role)
        )


def _trajectory(request: Request, completion: Completion) -> Trajectory:
    prompt = len(request.ids)
    return Trajectory(
        ids=(*request.ids, *completion.ids),
        generated=(False,) * prompt + (True,) * len(completion.ids),
        logprobs=(0.0,) * prompt + completion.logprobs,
        temperature=request.sampling.temperature,
    )


def _counts(drafts: Sequence[Draft]) -> dict[str, int]:
    counts: dict[str, int] = {"proposed": len(drafts), "valid": sum(draft.program is not None for draft in drafts)}
    counts |= {f"rejected_{reason}": n for reason, n in sorted(Counter(d.reason for d in drafts if d.reason).items())}
    counts["designer_tokens"] = sum(sum(draft.trajectory.generated) for draft in drafts)
    return counts


def _hint_counts(valid: Sequence[Draft]) -> dict[str, int]:
    rejected = Counter(draft.hint_rejected for draft in valid if draft.hint_rejected)
    hinted = sum(draft.program is not None and draft.program.hint is not None for draft in valid)
    return {"hinted": hinted} | {f"hint_{reason}": count for reason, count in sorted(rejected.items())}
