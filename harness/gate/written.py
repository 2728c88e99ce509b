"""The gate's outcome for other programs: JUnit XML, and Markdown for people who read a CI's page."""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from ..atomic import disk_refused, write_atomic
from .decision import Verdict
from .outcome import HEADS, Line, Outcome

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file of a step's summary."""
TAGS = {
    Verdict.FAIL: "failure",
    Verdict.MISSING: "failure",
    Verdict.INCOMPLETE: "error",
    Verdict.UNDERPOWERED: "skipped",
}
"""What JUnit has no word for, underpowered, is a test that was skipped; the exit code still is not 0."""
NUMBERS = (
    "reference", "value", "difference", "low", "p", "p_holm", "margin", "discordance", "n_items", "detectable",
)  # fmt: skip
"""Fields of a decision that become properties of its test case."""
SIGNS = {Verdict.PASS: "\u2705", Verdict.UNDERPOWERED: "\u2754"}


def junit(outcome: Outcome) -> str:
    """One test case a benchmark."""
    counts = Counter(TAGS.get(line.verdict, "") for line in outcome.lines)
    suite = ElementTree.Element(
        "testsuite", name="spadework check", tests=str(len(outcome.lines)), failures=str(counts["failure"]),
        errors=str(counts["error"]), skipped=str(counts["skipped"]),
    )  # fmt: skip
    for line in outcome.lines:
        suite.append(_case(line, outcome))
    ElementTree.SubElement(suite, "system-out").text = clean(f"{outcome.headline()}\n{outcome.rates()}")
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(whole, encoding="unicode") + "\n"


def _case(line: Line, outcome: Outcome) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=clean(f"spadework.check.{outcome.run}"), name=clean(line.name))
    if line.decision is not None:
        numbers = ElementTree.SubElement(case, "properties")
        one = line.decision
        for name in NUMBERS:
            ElementTree.SubElement(numbers, "property", name=name, value=f"{getattr(one, name):.6g}")
    if tag := TAGS.get(line.verdict):
        ElementTree.SubElement(case, tag, message=clean(line.sentence), type=str(line.verdict))
    return case


def markdown(outcome: Outcome) -> str:
    """The table with its sentences."""
    rows = [HEADS, ("---", *["---:"] * (len(HEADS) - 2), "---"), *(_marked(line) for line in outcome.lines)]
    table = "\n".join("| " + " | ".join(_cell(word) for word in row) + " |" for row in rows)
    told = "\n".join(f"* {_plain(words)}" for words in (*(line.sentence for line in outcome.lines), *outcome.notes))
    return f"### {_plain(outcome.headline())}\n\n{table}\n\n{told}\n\n{_plain(outcome.rates())}\n"


def _marked(line: Line) -> tuple[str, ...]:
    *cells, verdict = line.cells()
    return (*cells, f"{SIGNS.get(line.verdict, chr(0x274C))} {verdict}")


def _plain(text: str) -> str:
    """Text that cannot begin a tag or a new block."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def clean(text: str) -> str:
    """Without control characters, which XML does not allow."""
    return "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else "\ufffd" for c in text)


def write(outcome: Outcome, junit_file: Path | None, summary_file: Path | None, environment: Mapping[str, str]) -> None:
    """The files that were asked for, and the summary of the CI's step where the environment names one."""
    if junit_file is not None:
        write_atomic(junit_file, junit(outcome))
    if summary_file is not None:
        write_atomic(summary_file, markdown(outcome))
    if step := environment.get(STEP_SUMMARY):
        try:
            with open(step, "a", encoding="utf-8") as file:
                file.write(markdown(outcome) + "\n")
        except OSError as error:
            raise disk_refused(Path(step), error) from error
