"""A table as one self-contained HTML file: no script, no font, no picture, nothing fetched; light and dark.

Each block scrolls in its own box, so that the page itself never scrolls sideways on a narrow screen.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from ..comparison import Verdict
from .panels import MARKS, RANKS, Entry, Head, Panel, blocks
from .result import Paper, Rank, TableResult
from .words import conclusions, facts, insecurity, row_label, run_lines

STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b6470; --paper: #ffffff; --band: #f4f6f8; --line: #d5dae0;
  --better: #11734b; --worse: #a8321f; --theirs: #6a4c93; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --paper: #14171b; --band: #1c2127;
  --line: #343b44; --better: #58c795; --worse: #f0897a; --theirs: #bfa3e8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; } h2 { font-size: 1.02rem; margin: 2rem 0 .5rem; }
.alarm { color: var(--worse); font-weight: 600; }
.box { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .4rem .7rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th, thead th:first-child { background: var(--band); font-weight: 600; vertical-align: bottom; }
thead th { white-space: normal; min-width: 4.5rem; } tbody th { white-space: normal; min-width: 7rem; }
tbody th { font-weight: 500; } tbody tr:last-child > * { border-bottom: 0; }
tr.subject > * , tr.subject > th:first-child { background: var(--band); font-weight: 600; }
small { display: block; color: var(--soft); font-weight: 400; font-size: .78em; }
.paper, .paper small { color: var(--theirs); font-style: italic; }
.better { color: var(--better); } .worse { color: var(--worse); } .tell { color: var(--soft); }
a { color: inherit; text-decoration: none; } a:hover, a:focus { text-decoration: underline; }
td b, td b a { font-weight: 700; } td u, td u a { text-decoration: underline; text-underline-offset: .2em; }
sup { color: var(--soft); } ul { padding-left: 1.2rem; } li { margin: .3rem 0; }
.fine { color: var(--soft); font-size: .88em; }
"""
CLASSES = {Verdict.BETTER: "better", Verdict.WORSE: "worse", Verdict.CANNOT_TELL: "tell"}


def html(table: TableResult, paper: Paper | None = None) -> str:
    """The page."""
    found = blocks(table, paper)
    title = escape(table.spec.title)
    subject = row_label(table.row(table.spec.subject))
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
    ]
    if table.gaps:
        parts.append(f'<p class="alarm">Incomplete: {escape("; ".join(table.gaps))}.</p>')
    if table.insecure:
        parts.append(f'<p class="alarm">{escape(insecurity(table))}</p>')
    anchors = [_anchor(table, number) for number in range(len(table.rows))]
    parts += [_panel(panel, subject, anchors) for panel in found.panels]
    parts.append(f'<p class="fine">{_legend()}</p>')
    if found.footnotes:
        notes = "; ".join(f"<sup>{letter}</sup> {escape(reason)}" for letter, reason in found.footnotes)
        parts.append(f'<p class="fine">{notes}.</p>')
    parts += ["<h2>What can be concluded</h2>", _list(conclusions(table), "")]
    parts += ["<h2>Fine print</h2>", _list(facts(table), "fine"), _runs(table), "</body>\n</html>"]
    return "\n".join(parts) + "\n"


def _legend() -> str:
    signs = [f'<span class="{CLASSES[verdict]}">{sign}</span> {verdict}' for verdict, sign in MARKS.items()]
    ranks = f"<b>bold</b> {RANKS[Rank.BEST]}, <u>underlined</u> {RANKS[Rank.TIED]}"
    return f'{", ".join(signs)}; {ranks}; <span class="paper">the paper\'s own figures</span>.'


def _runs(table: TableResult) -> str:
    """What every figure links to: the runs of each row."""
    rows = [
        f'<li id="{_anchor(table, number)}">{escape(label)}: {escape(text)}</li>'
        for number, (label, text) in enumerate(run_lines(table))
    ]
    return '<h2>Runs</h2>\n<ul class="fine">\n' + "\n".join(rows) + "\n</ul>"


def _anchor(table: TableResult, number: int) -> str:
    return f"runs-{quote(table.rows[number].spec.run, safe='')}"


def _panel(panel: Panel, subject: str, anchors: Sequence[str]) -> str:
    heads = "".join(["<th>row</th>", *(_head(head) for head in panel.heads)])
    rows = "\n".join(
        f'<tr class="{"subject" if label == subject else "other"}"><th scope="row">{escape(label)}</th>'
        f"{''.join(_entry(entry, anchor) for entry in entries)}</tr>"
        for (label, entries), anchor in zip(panel.rows, anchors)
    )
    table = f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    return f'<h2>{escape(panel.title)}</h2>\n<div class="box" tabindex="0">{table}</div>'


def _head(head: Head) -> str:
    small = f"<small>{escape(head.small)}</small>" if head.small else ""
    name = ' class="paper"' if head.paper else ""
    return f'<th scope="col"{name}>{escape(head.text)}{small}</th>'


def _entry(entry: Entry, anchor: str) -> str:
    name = "paper" if entry.paper else CLASSES[entry.verdict] if entry.verdict else ""
    text = escape(entry.text)
    if entry.runs:
        text = f'<a href="#{anchor}" title="{escape(", ".join(entry.runs))}">{text}</a>'
    if entry.rank:
        text = f"<b>{text}</b>" if entry.rank is Rank.BEST else f"<u>{text}</u>"
    if entry.verdict:
        text += f' <span title="{entry.verdict}">{MARKS[entry.verdict]}</span>'
    if entry.letter:
        text += f"<sup>{entry.letter}</sup>"
    if entry.interval:
        text += f"<small>{escape(entry.interval)}</small>"
    return f'<td class="{name}">{text}</td>' if name else f"<td>{text}</td>"


def _list(texts: list[str], name: str) -> str:
    items = "\n".join(f"<li>{escape(text)}</li>" for text in texts if text)
    return f'<ul class="{name}">\n{items}\n</ul>' if name else f"<ul>\n{items}\n</ul>"
