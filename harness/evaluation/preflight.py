"""Before a model is asked: does the grader know right from wrong? Scripted players take the benchmark's own path.

    gold      the replies of a perfect player; every one must be right, and right again when its answer is scored again
    noop      a sentence and no action; empty, nothing at all; nan, the answer `nan`: none may be right
    constant  one answer to every item; how often it is right is told, as the floor of every score

Exceptions stand in the presets' file with their reason. It prints nothing and keeps no text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..benchmark import Due, Scored, TaskItem
from ..sandbox import SandboxReport
from ..seeds import derive
from ..types import Completion, Message, Outcome
from .boundary import attempt
from .due import picked
from .players import SIMPLE, cast, gold_replies, simple_replies
from .presets import Known, PlayerName, Unsolved
from .run import Cell

MAY_BE_RIGHT: tuple[PlayerName, ...] = ("gold", "constant")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How one player did on one benchmark."""

    task: str
    player: PlayerName
    played: int
    right: int
    excused: tuple[str, ...]
    """Why, of each item that ended otherwise than it should, as the presets' file foretells."""
    faults: tuple[str, ...]
    """What must not be, each with its item."""
    note: str = ""

    @property
    def verdict(self) -> str:
        """In one word; a player that had nothing to play has shown nothing."""
        return "FAILED" if self.faults else "ok" if self.played else "NOT CHECKED"

    @property
    def sound(self) -> bool:
        """Whether the benchmark may be trusted as far as this player tells."""
        return not self.faults


class Player(NamedTuple):
    """Who played what, and what is known of it."""

    cell: Cell
    name: PlayerName
    known: Sequence[Known]
    played: int


@dataclass
class Kept:
    """A sink that keeps results in memory and nothing else."""

    results: dict[str, Scored] = field(default_factory=dict)

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        """See `Sink`."""
        self.results[scored.item] = scored

    def sandboxed(self, report: SandboxReport) -> None:
        """Nothing is recorded."""


def preflight(
    cell: Cell, known: Sequence[Known], limit: int | None, unsolved: Sequence[Unsolved] = ()
) -> list[Finding]:
    """All players on the first `limit` items in the order of their hashes; on all when None."""
    due = [
        Due(item=item, repeat=0, seed=derive(0, "preflight", cell.name, item.id)) for item in picked(cell.items, limit)
    ]
    return [_gold(cell, due, known, unsolved), *(_simple(cell, due, known, player) for player in SIMPLE)]


def _gold(cell: Cell, due: Sequence[Due], known: Sequence[Known], unsolved: Sequence[Unsolved]) -> Finding:
    replies = gold_replies(cell.benchmark, due)
    playable = [one for one in due if one.seed in replies]
    results, broken = _played(cell, playable, replies)
    wrong = [(one.item, _gold_fault(cell, one.item, results.get(one.item.id))) for one in playable]
    note = _untried(cell, [one.item for one in due if one.seed not in replies], len(due), unsolved)
    faulty = [(item, fault) for item, fault in wrong if fault]
    return _finding(Player(cell, "gold", known, len(playable)), faulty, results, broken, note)


def _untried(cell: Cell, items: Sequence[TaskItem], whole: int, unsolved: Sequence[Unsolved]) -> str:
    """In words, that nothing shows of these items whether a right answer is taken, and why."""
    if not items:
        return ""
    name, whys = cell.settings.preset.name, Counter[str]()
    for item in items:
        whys[next((one.why for one in unsolved if one.fits(item, name)), "no reason is given")] += 1
    told = "; ".join(f"{count:,} since {why}" for why, count in whys.items())
    count = f"{len(items):,} of {whole:,}"
    return f"of {count} items no solution is known, so nothing shows that a right one is taken: {told}"


def _gold_fault(cell: Cell, item: TaskItem, result: Scored | None) -> str:
    """What is wrong with the perfect player's result, or an empty text."""
    if result is None:
        return "the gold solution never came back"
    if result.outcome is not Outcome.RIGHT:
        return f"the gold solution is {result.outcome}"
    again: list[Outcome] = []
    broken = attempt(
        lambda: again.append(cell.benchmark.rescore(item, result.answer, cell.settings.preset)[0]),
        closed=cell.settings.closed,
    )
    if broken or again[0] is not Outcome.RIGHT:
        return f"scored again, the gold answer is {broken or again[0]}"
    return ""


def _simple(cell: Cell, due: Sequence[Due], known: Sequence[Known], player: PlayerName) -> Finding:
    results, broken = _played(cell, due, simple_replies(cell.benchmark, player, due), passive=True)
    wrong = []
    for one in due:
        outcome = results[one.item.id].outcome if one.item.id in results else None
        if outcome is None or not outcome.scored or (outcome is Outcome.RIGHT and player not in MAY_BE_RIGHT):
            wrong.append((one.item, "never came back" if outcome is None else f"is {outcome}"))
    return _finding(Player(cell, player, known, len(due)), wrong, results, broken)


def _finding(
    player: Player, wrong: Sequence[tuple[TaskItem, str]], results: Mapping[str, Scored], broken: str, note: str = ""
) -> Finding:
    """Faults less those that are known."""
    excused, faults = [], [broken] if broken else []
    for item, fault in wrong:
        whys = [one.why for one in player.known if one.covers(player.name, item, player.cell.settings.preset.name)]
        if whys:
            excused.append(whys[0])
        else:
            faults.append(f"{item.id}: {fault}")
    return Finding(
        task=player.cell.name, player=player.name, played=player.played, excused=tuple(excused), faults=tuple(faults),
        right=sum(result.outcome is Outcome.RIGHT for result in results.values()), note=note,
    )  # fmt: skip


def _played(
    cell: Cell, due: Sequence[Due], replies: dict[int, list[Message]], *, passive: bool = False
) -> tuple[dict[str, Scored], str]:
    """Results by item, and why the benchmark broke off."""
    if not due:
        return {}, ""
    sink, players = Kept(), cast(cell.benchmark, due, replies, passive=passive)
    broken = attempt(lambda: cell.benchmark.run(due, cell.settings.preset, players, sink), closed=cell.settings.closed)
    return sink.results, broken
