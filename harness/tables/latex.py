r"""A table as LaTeX: one `table*` a panel, to be `\input` into a paper that loads `booktabs`.

Every text is escaped; signs that pdflatex does not know become commands. It needs no package besides booktabs. The runs
behind a row stand in a comment at its end.
"""

import re
from collections.abc import Sequence
from textwrap import wrap

from .panels import MARKS, RANKS, Entry, Head, Panel, blocks
from .result import Paper, Rank, TableResult
from .words import conclusions, facts, insecurity
from .words import title as whole_title

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u2212": "$-$", "\u2013": "--", "\u25b2": r"$\uparrow$",
    "\u25bc": r"$\downarrow$", "\u2248": r"$\approx$", "<": "$<$", ">": "$>$", "|": r"\textbar{}", '"': "''",
    "\u00b1": r"$\pm$", "\u00d7": r"$\times$", "\u2264": r"$\leq$", "\u2265": r"$\geq$", "\u2192": r"$\to$",
    "\u00b7": r"$\cdot$", "\u00b2": r"$^2$", "\u03c4": r"$\tau$", "\u0394": r"$\Delta$", "\u2014": "---",
    "\u2018": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"\dots{}", "\n": " ",
}  # fmt: skip
ACCENTED = frozenset(map(chr, range(0xC0, 0x100))) - frozenset("\xd0\xd7\xde\xf0\xf7\xfe")
"""Letters that pdflatex composes by itself."""
HEAD = 11
"""Characters of a line of a head."""
WEIGHTS = {Rank.BEST: "textbf", Rank.TIED: "underline"}


def escaped(text: str) -> str:
    """Text that pdflatex prints as it stands here; other signs beyond ASCII become a question mark, visibly."""
    return "".join(SPECIAL.get(sign, sign if sign.isascii() or sign in ACCENTED else "?") for sign in text)


def guarded(text: str) -> str:
    """Text for a place where LaTeX would take a bracket or a star at its beginning for an option."""
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def latex(table: TableResult, paper: Paper | None = None) -> str:
    """All panels as floats, then conclusions and fine print as comments and a small paragraph."""
    found = blocks(table, paper)
    lines = ["% needs \\usepackage{booktabs}"]
    for panel in found.panels:
        used = {entry.letter for _, entries in panel.rows for entry in entries}
        notes = [f"\\textsuperscript{{{key}}} {escaped(text)}" for key, text in found.footnotes if key in used]
        lines += _float(table, panel, notes)
    lines += ["\\begin{itemize}\\footnotesize"]
    said = [insecurity(table), *conclusions(table), *facts(table)]
    lines += [f"\\item {guarded(escaped(text))}" for text in said if text]
    return "\n".join([*lines, "\\end{itemize}"]) + "\n"


def _float(table: TableResult, panel: Panel, notes: list[str]) -> list[str]:
    title = escaped(f"{whole_title(table)}: {panel.title}.")
    key = "paper" if panel.paper else next(k for k, text in table.spec.panels.items() if text == panel.title)
    legend = " ".join(f"{escaped(sign)} {verdict};" for verdict, sign in MARKS.items())
    verdicts = any(entry.verdict for _, entries in panel.rows for entry in entries)
    ranks = any(entry.rank for _, entries in panel.rows for entry in entries)
    told = {Rank.BEST: "Bold", Rank.TIED: "underlined"}
    marks = [f"\\{WEIGHTS[rank]}{{{word}}}: {escaped(RANKS[rank])};" for rank, word in told.items()] if ranks else []
    legends = [legend, *marks] if verdicts else marks
    whole = [" ".join(legends).rstrip(";") + "."] if legends else []
    caption = " ".join([title, *whole, "; ".join(notes)]).strip()
    return [
        "\\begin{table*}\\centering\\scriptsize\\setlength{\\tabcolsep}{2pt}",
        f"\\caption{{{caption}}}\\label{{tab:{_plain(table.spec.name)}-{_plain(key)}}}",
        f"\\begin{{tabular}}{{l{'r' * len(panel.heads)}}}",
        "\\toprule",
        *_heads(panel.heads),
        "\\midrule",
        *(_row(label, entries) for label, entries in panel.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table*}",
    ]


def _plain(name: str) -> str:
    """A name as a part of a label, which takes no special sign."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name)


def _row(label: str, entries: Sequence[Entry]) -> str:
    """A line of figures, below it a line of their intervals: side by side they would not fit a page."""
    runs = " ".join(" ".join(dict.fromkeys(run for entry in entries for run in entry.runs)).split())
    lines = [_line([guarded(escaped(label)), *(_entry(entry) for entry in entries)])]
    if any(entry.interval for entry in entries):
        below = [f"{{\\tiny {escaped(entry.interval)}}}" if entry.interval else "" for entry in entries]
        lines = [f"{lines[0]}[-0.2ex]", f"{_line(['', *below])}[0.4ex]"]
    return "\n".join([*lines[:-1], f"{lines[-1]} % {runs}" if runs else lines[-1]])


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _heads(heads: Sequence[Head]) -> list[str]:
    """The head in as many lines as its longest title needs, titles standing on the rule."""
    stacks = [
        [*wrap(head.text, HEAD, break_long_words=False), *([head.small] if head.small else [])] for head in heads
    ]
    height = max(map(len, stacks), default=0)
    padded = [[""] * (height - len(stack)) + stack for stack in stacks]
    lines = zip(*padded, strict=True)
    return [_line(["", *(_head(text, head) for text, head in zip(line, heads, strict=True))]) for line in lines]


def _head(text: str, head: Head) -> str:
    return f"\\textit{{{escaped(text)}}}" if head.paper and text else escaped(text)


def _entry(entry: Entry) -> str:
    text = escaped(entry.text)
    if entry.rank:
        text = f"\\{WEIGHTS[entry.rank]}{{{text}}}"
    if entry.verdict:
        text += f" {escaped(MARKS[entry.verdict])}"
    if entry.letter:
        text += f"\\textsuperscript{{{entry.letter}}}"
    return f"\\textit{{{text}}}" if entry.paper and text else text
