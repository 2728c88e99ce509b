"""A comparison for machines: one JSON object with every number, its evidence and what limits it. Pure.

    {"format": 1, "metric", "reference", "subjects": [...], "rows": [...], "categories": [...], "groups": [...],
     "lacking": {...}, "remarks": [...]}

Numbers are in the metric's own unit: a share lies in [0, 1] and a difference of shares in [-1, 1], never percent.
"""

from typing import Any

import msgspec

from ..comparison import ALPHA, POWER
from .columns import Column, Subject
from .rows import Comparison, Row
from .words import remarks, sentence

FORMAT = 1


def document(comparison: Comparison) -> dict[str, Any]:
    """The whole of it."""
    question = comparison.question
    return {
        "format": FORMAT, "metric": question.metric, "reference": comparison.subjects[0].label,
        "alpha": round(ALPHA, 9), "power": POWER, "margin": question.margin, "allowed": sorted(question.allow),
        "subjects": [_subject(subject, question.columns) for subject in comparison.subjects],
        "rows": [_row(row, comparison) for row in comparison.rows],
        "categories": [_row(row, comparison) for row in comparison.parts],
        "groups": msgspec.to_builtins(comparison.groups), "lacking": dict(comparison.lacking),
        "remarks": remarks(comparison),
    }  # fmt: skip


def _subject(subject: Subject, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "label": subject.label, "runs": subject.runs, "kind": subject.kind, "trained": subject.trained,
        "notes": subject.notes,
        "columns": {name: _column(subject.columns[name]) for name in names if name in subject.columns},
    }  # fmt: skip


def _column(column: Column) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(column.stamp), "items": column.listed.digest, "n_items": len(column.golds),
        "seeds": column.seeds, "repeats": column.outcomes_SIR.shape[2], "counts": column.counts(),
        "complete": column.complete, "reason": column.reason,
    }  # fmt: skip


def _row(row: Row, comparison: Comparison) -> dict[str, Any]:
    return {
        "column": row.column, "category": row.category, "base": row.base, "new": row.new,
        "verdict": row.difference.verdict, "sentence": sentence(row, comparison.question.metric),
        "value_base": row.value_base, "value_new": row.value_new, **msgspec.to_builtins(row.difference),
        "shared": msgspec.to_builtins(row.shared), "unscored": row.unscored, "needs": msgspec.to_builtins(row.needs),
        "n_flips": row.n_flips, "flips": msgspec.to_builtins(row.flips),
    }  # fmt: skip
