"""A table as Markdown for people and as CSV for machines.

The CSV has one line a cell (`row,column,...`), natural units (shares in [0, 1], ASCII minus), an empty field where
there is no number. The comparisons are lines too, with their p-values; the paper's figures have a column of their own.
"""

import csv
from io import StringIO

from .panels import MARKS, RANKS, Entry, Head, Panel, blocks
from .result import Cell, Paper, Rank, RowResult, TableResult
from .spec import TableSpec
from .words import conclusions, facts, insecurity, run_lines, title

FIELDS = (
    "row", "label", "column", "unit", "value", "low", "high", "n_items", "n_samples", "n_scored", "n_seeds", "seed_sd",
    "size", "rank", "verdict", "p", "p_holm", "detectable", "test", "note", "paper", "outcomes", "scale", "measure",
    "evidence", "runs",
)  # fmt: skip


def markdown(table: TableResult, paper: Paper | None = None) -> str:
    """The whole table: panels, marks, footnotes, conclusions, fine print."""
    found = blocks(table, paper)
    lines = [f"## {_escaped(title(table))}", ""]
    for panel in found.panels:
        lines += [f"**{_escaped(panel.title)}**", "", *_panel_lines(panel), ""]
    lines += [f"{', '.join(f'{sign} {verdict}' for verdict, sign in MARKS.items())}. {_rank_legend()}", ""]
    if table.insecure:
        lines += [f"**{_escaped(insecurity(table))}**", ""]
    if found.footnotes:
        lines += ["; ".join(f"<sup>{letter}</sup> {_escaped(reason)}" for letter, reason in found.footnotes) + ".", ""]
    lines += ["**What can be concluded**", "", *(f"- {_escaped(text)}" for text in conclusions(table) if text), ""]
    lines += ["**Fine print**", "", *(f"- {_escaped(text)}" for text in facts(table)), ""]
    lines += ["**Runs**", "", *(f"- {_escaped(label)}: {_escaped(text)}" for label, text in run_lines(table))]
    return "\n".join(lines) + "\n"


def _rank_legend() -> str:
    return f"**Bold**: {RANKS[Rank.BEST]}; <u>underlined</u>: {RANKS[Rank.TIED]}."


def _panel_lines(panel: Panel) -> list[str]:
    heads = ["row", *(_head(head) for head in panel.heads)]
    lines = [_line(heads), _line(["---", *("---:" for _ in panel.heads)])]
    return lines + [_line([_escaped(label), *(_entry(entry) for entry in entries)]) for label, entries in panel.rows]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(head: Head) -> str:
    text = f"{_escaped(head.text)}<br><sub>{_escaped(head.small)}</sub>" if head.small else _escaped(head.text)
    return f"*{text}*" if head.paper else text


def _entry(entry: Entry) -> str:
    parts = [_ranked(_escaped(entry.text), entry.rank), f"<sub>{entry.interval}</sub>" if entry.interval else ""]
    parts.append(MARKS[entry.verdict] if entry.verdict else "")
    text = " ".join(filter(None, parts))
    text += f"<sup>{entry.letter}</sup>" if entry.letter else ""
    return f"*{text}*" if entry.paper and text else text


def _ranked(text: str, rank: Rank | None) -> str:
    if rank is None:
        return text
    return f"**{text}**" if rank is Rank.BEST else f"<u>{text}</u>"


def _escaped(text: str) -> str:
    text = " ".join(text.split())
    for sign in "\\|*_<>`":
        text = text.replace(sign, f"\\{sign}")
    return text


def csv_text(table: TableResult) -> str:
    """One line a cell and a comparison; see the module. With insecure runs there is a last column that names them."""
    stream = StringIO()
    fields = [*FIELDS, "insecure"] if table.insecure else FIELDS
    writer = csv.DictWriter(stream, fields, restval="", lineterminator="\n")
    writer.writeheader()
    for row in table.rows:
        marked = {"insecure": _insecure(row)} if table.insecure else {}
        for cell in row.cells.values():
            writer.writerow(_cell_fields(table.spec, row, cell) | marked)
        for other, found in row.against.items():
            column = table.spec.column(table.spec.compare)
            writer.writerow({
                **_names(row), **marked, "column": f"{column.id} minus {other}", "unit": _unit(column.kind),
                "scale": table.spec.scale, "value": _number(found.value), "low": _number(found.low),
                "high": _number(found.high),
                "n_items": found.n_items, "n_seeds": found.n_seeds, "verdict": found.verdict, "p": _number(found.p),
                "p_holm": _number(found.p_holm), "detectable": _number(found.detectable), "test": found.test,
            })  # fmt: skip
    return stream.getvalue()


def _cell_fields(spec: TableSpec, row: RowResult, cell: Cell) -> dict[str, object]:
    fields: dict[str, object] = {
        **_names(row), "column": cell.column.id, "unit": _unit(cell.column.kind), "value": _number(cell.value),
        "low": _number(cell.low), "high": _number(cell.high), "n_seeds": cell.n_seeds, "note": cell.note,
        "paper": _number(cell.paper), "size": "" if cell.size is None else cell.size, "rank": cell.rank or "",
        "scale": spec.scale, "measure": spec.measure(cell.column), "evidence": cell.evidence,
        "runs": " ".join(cell.runs),
    }  # fmt: skip
    if (score := cell.score) is not None:
        outcomes = " ".join(f"{name}:{count}" for name, count in sorted(score.counts.items()))
        fields |= {"n_items": score.n_items, "n_samples": score.n_samples, "n_scored": score.n_scored}
        fields |= {"seed_sd": _number(score.seed_sd), "outcomes": outcomes}
    return fields


def _names(row: RowResult) -> dict[str, object]:
    return {"row": row.spec.run, "label": row.spec.label}


def _insecure(row: RowResult) -> str:
    """What the sandbox of each run of a row lacked."""
    return "; ".join(f"seed {seed}: {', '.join(lines)}" for seed, lines in row.insecure.items())


def _unit(kind: str) -> str:
    return {"right": "share", "return": "reward", "seconds": "s"}.get(kind, kind)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
