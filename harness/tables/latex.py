r"""A table as LaTeX: one `table*` a panel, to be `\input` into a paper that loads `booktabs`.

Every text is escaped; signs that pdflatex does not know become commands. It needs no package besides booktabs.
"""

import re
from collections.abc import Sequence

from .cells import Paper, TableResult
from .panels import MARKS, Entry, Head, Panel, blocks
from .words import conclusions, facts, insecurity
from .words import title as whole_title

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u2212": "$-$", "\u2013": "--", "\u25b2": r"$\uparrow$",
    "\u25bc": r"$\downarrow$", "\u2248": r"$\approx$", "<": "$<$", ">": "$>$", "|": r"\textbar{}", '"': "''",
}  # fmt: skip


def escaped(text: str) -> str:
    """Text that pdflatex prints as it stands here; other signs beyond ASCII become a question mark, visibly."""
    return "".join(SPECIAL.get(sign, sign if sign.isascii() else "?") for sign in text)


def latex(table: TableResult, paper: Paper | None = None) -> str:
    """All panels as floats, then conclusions and fine print as comments and a small paragraph."""
    found = blocks(table, paper)
    lines = ["% needs \\usepackage{booktabs}"]
    for panel in found.panels:
        used = {entry.letter for _, entries in panel.rows for entry in entries}
        notes = [f"\\textsuperscript{{{key}}} {escaped(text)}" for key, text in found.footnotes if key in used]
        lines += _float(table, panel, notes)
    lines += ["\\begin{itemize}\\footnotesize"]
    lines += [f"\\item {escaped(text)}" for text in (insecurity(table), *conclusions(table), *facts(table)) if text]
    return "\n".join([*lines, "\\end{itemize}"]) + "\n"


def _float(table: TableResult, panel: Panel, notes: list[str]) -> list[str]:
    title = escaped(f"{whole_title(table)}: {panel.title}.")
    key = "paper" if panel.paper else next(k for k, text in table.spec.panels.items() if text == panel.title)
    legend = " ".join(f"{escaped(sign)} {verdict};" for verdict, sign in MARKS.items())
    verdicts = any(entry.verdict for _, entries in panel.rows for entry in entries)
    caption = " ".join([title, *([legend.rstrip(";") + "."] if verdicts else []), "; ".join(notes)]).strip()
    return [
        "\\begin{table*}\\centering\\scriptsize\\setlength{\\tabcolsep}{2pt}",
        f"\\caption{{{caption}}}\\label{{tab:{table.spec.name}-{key}}}",
        f"\\begin{{tabular}}{{l{'r' * len(panel.heads)}}}",
        "\\toprule",
        *_heads(panel.heads),
        "\\midrule",
        *(_line([escaped(label), *(_entry(entry) for entry in entries)]) for label, entries in panel.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table*}",
    ]


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _heads(heads: Sequence[Head]) -> list[str]:
    """The head in as many lines as its longest title needs, titles standing on the rule."""
    stacks = [[*re.split(r", | (?=\()", head.text), *([head.small] if head.small else [])] for head in heads]
    height = max(map(len, stacks), default=0)
    padded = [[""] * (height - len(stack)) + stack for stack in stacks]
    lines = zip(*padded, strict=True)
    return [_line(["", *(_head(text, head) for text, head in zip(line, heads, strict=True))]) for line in lines]


def _head(text: str, head: Head) -> str:
    return f"\\textit{{{escaped(text)}}}" if head.paper and text else escaped(text)


def _entry(entry: Entry) -> str:
    text = escaped(entry.text)
    if entry.interval:
        text += f" {{\\tiny {escaped(entry.interval)}}}"
    if entry.verdict:
        text += f" {escaped(MARKS[entry.verdict])}"
    if entry.letter:
        text += f"\\textsuperscript{{{entry.letter}}}"
    return f"\\textit{{{text}}}" if entry.paper and text else text
