"""The self-play source: the designer writes a window of environments, the agent plays them, the designer is paid for
them.

One window is k steps. Its first step proposes the programs (at most `attempts` tries a slot), has hints written and
checked, and lets the agent play the same instances with and without the hint. The pay waits for the whole window;
its samples are trained in the first step of the next window, with the log-probs they were drawn with, and those of
the last window in the last step of the run. Who writes is an argument: the trained policy itself, or another model
(then nothing of it is trained).
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Mapping, Sequence

import msgspec

from ..harness.sandbox import Sandbox
from ..harness.types import Arm, Episode, Sample
from .advantages import AdvantageSettings, Written, designer_advantages
from .designer import Designer, Draft
from .figures import mean
from .memory import EnvironmentMemory, Remembered, memory_from
from .potential import LearningPotential
from .proposal import Reason
from .rewards import RewardContext, RewardSettings, pay, resolve_reward, track
from .source import JSON, PlaySettings, Supply, hint_plays, plain_plays
from .window import WindowStats, paired_interval, regret, share_won


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The drafts of one window and what their plays said so far, by program id."""

    start: int
    drafts: tuple[Draft, ...] = ()
    stats: Mapping[str, WindowStats] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pay:
    """How the designer is paid: the function's name, its numbers, and how pays are compared."""

    reward: str
    settings: RewardSettings
    advantages: AdvantageSettings
    window: int
    """Steps a window is played."""
    steps: int
    """Length of the run: its last window is trained in its last step."""
    trained: bool = True
    """False: the designer's samples stay out of the loss (a frozen designer)."""


class SelfPlay:
    """Source of the self-play rows."""

    def __init__(self, designer: Designer, sandbox: Sandbox, plays: PlaySettings, pay: Pay) -> None:
        self.designer, self.sandbox, self.plays, self.pay = designer, sandbox, plays, pay
        self.length, self.steps, self.seed = pay.window, pay.steps, designer.seed
        self.reward = resolve_reward(pay.reward)
        self.memory = EnvironmentMemory(capacity=designer.settings.memory_capacity)
        self.trackers: dict[str, LearningPotential] = {}
        self.window = Window(start=0)
        self.due: list[Sample] = []

    def supply(self, step: int) -> Supply:
        """In the first step of a window its new programs, with hinted plays; after that the same programs again."""
        counts: dict[str, int] = {}
        if step % self.length == 0:
            proposal = self.designer.propose(step, self.memory, self.sandbox)
            self.window = Window(start=step, drafts=proposal.drafts)
            counts = dict(proposal.counts)
        programs = tuple(draft.program for draft in self.window.drafts if draft.program is not None)
        plays = plain_plays(programs, step, self.seed, self.plays)
        if step == self.window.start:
            plays += hint_plays(plays)
        return Supply(plays=plays, programs=programs, counts=counts | {"environments": len(programs)})

    def learn(self, step: int, episodes: Sequence[Episode]) -> list[Sample]:
        """Count the plays in; give back the designer's samples that are due in this step."""
        self._count(step - self.window.start, episodes)
        due: list[Sample] = []
        if step == self.window.start:
            self._remember()
            due, self.due = self.due, []
        last_of_run = step == self.steps - 1
        if step - self.window.start == self.length - 1 or last_of_run:
            agents = sum(episode.play.arm is Arm.PLAIN for episode in episodes)
            self.due = self._samples(agents)
        if last_of_run:
            due, self.due = due + self.due, []
        return due if self.pay.trained else []

    def report(self) -> list[dict[str, object]]:
        """One line a draft of the present window for environments.jsonl; figures that were not measured are None."""
        rows: list[dict[str, object]] = []
        for draft in self.window.drafts:
            stats = self.window.stats.get(draft.program.id) if draft.program else None
            rows.append({
                "step": self.window.start, "id": draft.program.id if draft.program else None, "skill": draft.skill,
                "source": draft.source, "hint": draft.program.hint if draft.program else None,
                "hint_rejected": draft.hint_rejected, "valid": draft.program is not None, "reason": draft.reason,
                "attempt": draft.attempt, "passage": draft.passage, "written_by": draft.author,
                "win_rate": mean(stats.returns) if stats else None, "regret": regret(stats) if stats else None,
                **_interval(stats),
            })  # fmt: skip
        return rows

    def figures(self) -> dict[str, float | None]:
        """Means over the window's environments for the metrics line; None where nothing was measured."""
        stats = list(self.window.stats.values())
        gaps = [gap for one in stats if (gap := regret(one)) is not None]
        rates = [rate for one in stats if (rate := mean(one.returns)) is not None]
        return {"regret": mean(gaps), "regret_measured": len(gaps), "window_win_rate": mean(rates)}

    def state(self) -> dict[str, JSON]:
        """Memory, trackers, the window with its trajectories, and samples that wait for their step."""
        plain: dict[str, JSON] = msgspec.to_builtins(
            {"memory": self.memory.state(), "trackers": self.trackers, "window": self.window, "due": self.due},
            str_keys=True,
        )
        return plain

    def restore(self, state: dict[str, JSON]) -> None:
        """Go on from `state()`."""
        self.memory = memory_from(state["memory"])
        self.trackers = msgspec.convert(state["trackers"], dict[str, LearningPotential])
        self.window = msgspec.convert(state["window"], Window, str_keys=True)
        self.due = msgspec.convert(state["due"], list[Sample])

    def _count(self, offset: int, episodes: Sequence[Episode]) -> None:
        by_program: dict[str, list[Episode]] = defaultdict(list)
        for episode in episodes:
            by_program[episode.play.program.id].append(episode)
        fresh = {
            key: self.window.stats.get(key, WindowStats()).add(offset, played) for key, played in by_program.items()
        }
        self.window = replace(self.window, stats={**self.window.stats, **fresh})

    def _remember(self) -> None:
        records = []
        for draft in self.window.drafts:
            stats = self.window.stats.get(draft.program.id) if draft.program else None
            rate = share_won(stats.returns) if stats else None
            if draft.program is not None and stats is not None and rate is not None:
                records.append(Remembered(id=draft.program.id, skill=draft.skill, source=draft.program.source,
                                          win_rate=rate, regret=regret(stats)))  # fmt: skip
        self.memory = self.memory.insert(records)

    def _samples(self, agents: int) -> list[Sample]:
        """The designer's samples of the finished window, each with its advantage."""
        by_skill: dict[str, dict[str, WindowStats]] = defaultdict(dict)
        for draft in self.window.drafts:
            if draft.program is not None and draft.program.id in self.window.stats:
                by_skill[draft.skill][draft.program.id] = self.window.stats[draft.program.id]
        for skill, windows in by_skill.items():
            self.trackers[skill] = track(self.trackers.get(skill), windows, self.pay.settings)
        written = [self._written(draft) for draft in self.window.drafts]
        result = designer_advantages(written, agents=agents, interval=self.length, settings=self.pay.advantages)
        return list(result.samples)

    def _written(self, draft: Draft) -> Written:
        stats = self.window.stats.get(draft.program.id) if draft.program else None
        earned: float | None = None
        if draft.program is None:
            earned = None if draft.reason == Reason.HOST else self.pay.settings.invalid_reward
        elif stats is not None:
            context = RewardContext(skill=draft.skill, tracker=self.trackers[draft.skill])
            earned = pay(self.reward, stats, self.pay.settings, context)
        return Written(trajectory=draft.trajectory, skill=draft.skill, pay=earned, valid=draft.program is not None)


def _interval(stats: WindowStats | None) -> dict[str, object]:
    """The paired 95 % interval of an environment's regret; None where no pair was scored."""
    found = paired_interval(stats) if stats else None
    return {"regret_low": found.low if found else None, "regret_high": found.high if found else None}
