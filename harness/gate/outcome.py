"""What a gate came to: one line a benchmark in plain words, the exit code, and the rates of error it works at.

It is the one source of what terminal, JUnit file and Markdown summary say. Pure; it prints and writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ExitCode
from ..numbers import MINUS, signed
from ..planning import two_digits
from .decision import Decision, Verdict

ALL_PASS = "every benchmark passes"
HEADS = ("benchmark", "reference", "run", "change", "at least", "flipped", "p", "margin", "verdict")
"""Values in percent, differences and margins in points."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One benchmark of the reference."""

    name: str
    verdict: Verdict
    sentence: str
    decision: Decision | None = None
    """None where there is no number."""

    def cells(self) -> tuple[str, ...]:
        """Texts under `HEADS`; a dash where there is no number."""
        one = self.decision
        if one is None:
            return (self.name, *"-------", self.verdict)
        return (
            self.name, percent(one.reference), percent(one.value), points(one.difference), points(one.low),
            percent(one.discordance), probability(one.p_holm), percent(one.margin), self.verdict,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The whole gate."""

    run: str
    reference: str
    alpha: float
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    @property
    def code(self) -> ExitCode:
        """The worst line decides: a drop or a missing benchmark, then what has no number, then what cannot be told."""
        verdicts = {line.verdict for line in self.lines}
        if verdicts & {Verdict.FAIL, Verdict.MISSING}:
            return ExitCode.VERDICT_FAIL
        if Verdict.INCOMPLETE in verdicts:
            return ExitCode.INCOMPLETE
        return ExitCode.CANNOT_TELL if Verdict.UNDERPOWERED in verdicts else ExitCode.OK

    def headline(self) -> str:
        """One line for all of them."""
        named = (
            f"{verdict}: {', '.join(names)}"
            for verdict in Verdict
            if verdict is not Verdict.PASS and (names := [one.name for one in self.lines if one.verdict is verdict])
        )
        return f"{self.run} against {self.reference}: {'; '.join(named) or ALL_PASS} (exit code {int(self.code)})."

    def rates(self) -> str:
        """How often this gate is wrong."""
        tested = [line.decision for line in self.lines if line.decision is not None]
        if not tested:
            return "Nothing was tested."
        share = percent(self.alpha)
        over = f", over its {len(tested)} benchmarks together" if len(tested) > 1 else ""
        one = "a benchmark" if len(tested) > 1 else "one"
        return (
            f"At no change this gate fails by chance in at most {share} % of runs{over}; {one} whose true drop is its "
            f"margin passes in at most {share} %."
        )


def outcome_of(
    names: Sequence[str], decisions: Sequence[Decision], without: Sequence[Line], told: Outcome
) -> Outcome:
    """`told` with its lines: verdicts and lines without a number, in the order of `names`."""
    by_name = {line.name: line for line in without}
    for one in decisions:
        by_name[one.name] = Line(name=one.name, verdict=one.verdict, sentence=sentence(one), decision=one)
    return Outcome(
        run=told.run, reference=told.reference, alpha=told.alpha, notes=told.notes,
        lines=tuple(by_name[name] for name in names),
    )  # fmt: skip


def incomplete_line(name: str, reason: str) -> Line:
    """A benchmark that was asked for and has no whole number."""
    words = f"{name}: incomplete, {reason}; give the command that began the run again."
    return Line(name=name, verdict=Verdict.INCOMPLETE, sentence=words)


def missing_line(name: str) -> Line:
    """A benchmark that the run was not asked for."""
    words = f"{name}: missing, the reference has it and the run does not; evaluate it, or write a new reference."
    return Line(name=name, verdict=Verdict.MISSING, sentence=words)


def sentence(one: Decision) -> str:
    """What may be said of one benchmark, and how much of a drop this gate would see."""
    change = f"{percent(one.reference)} % to {percent(one.value)} %, {points(one.difference)} points"
    margin = f"the margin is {percent(one.margin)}"
    if one.verdict is Verdict.FAIL:
        said = f"FAIL, {change}, p = {probability(one.p_holm)}; {margin}"
    elif one.verdict is Verdict.PASS:
        said = f"pass, {change}; a drop of {percent(-one.low)} or more is ruled out, {margin}"
        said = said if one.low < 0 else f"pass, {change}; a drop is ruled out"
    else:
        said = f"underpowered, {change}; a drop of {percent(-one.low)} is not ruled out, {margin}{_more(one)}"
    return f"{one.name}: {said}. {_resolution(one)}"


def _more(one: Decision) -> str:
    if one.run_sd is not None:
        return f"; more runs would tell ({one.n_runs} against {one.n_references} here)"
    if one.needed is None:
        return "; more items would tell"
    return f"; about {two_digits(one.needed):,} items would tell if it stays so"


def _resolution(one: Decision) -> str:
    noise = f"{percent(one.discordance)} % of {one.n_items:,} items changed ({one.n_better:,} up, {one.n_worse:,} down)"
    if one.run_sd is not None:
        noise += f", the value spreads by {percent(one.run_sd)} points between runs"
    return f"{noise}; a true drop of {percent(one.detectable)} points would be found four times in five."


def percent(share: float) -> str:
    """A share in percent with one decimal, whole numbers without."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("-", MINUS)


def points(difference: float) -> str:
    """A difference in points with its sign."""
    return signed(difference, percent=True)


def probability(p: float) -> str:
    """Three decimals, or that it is less."""
    return "< .001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1).replace("1.000", "1")
