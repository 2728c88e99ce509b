"""The page: one HTML text from the parts of a report, with its style, its script and its data in it.

Every text is escaped by the template; data is JSON in which no `<` stands. A policy in the page lets nothing be loaded
and no script run but the page's own, by its digest. What it is not: a reader of runs.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import msgspec
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from ..answers import LEGEND, UNSCORED
from ..show import alarms
from .curves import Panel, panels
from .differences import Forest, forest, headline_columns
from .environments import environments
from .questions import QUESTIONS, rows_of
from .samples import LETTERS, Texts, benchmarks
from .scores import columns_of, figure_rows, outcome_bars, score_rows
from .settings import config_settings, origin_settings
from .values import Side

ANSWERS_BUDGET, SOURCES_BUDGET = 9_000_000, 5_000_000
"""Bytes of all answers together, and of all texts of environments; what is beyond is cut and says so."""
TEMPLATES = ("page.html", "parts.html")
SCRIPTS = ("base.js", "pages.js", "samples.js", "environments.js", "charts.js", "start.js")
"""One after the other they are the page's script."""
COLOURS = 12
"""Lines beyond so many repeat a colour."""
BANDS = 4
"""Of more lines than this at once the bands would hide each other, and are not shown."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What stands above everything."""

    title: str
    made: str
    """Version of spadework, and when."""


def render(sides: Sequence[Side], head: Head) -> str:
    """The whole page."""
    found, answers, sources = forest(sides), Texts(), Texts()
    drawn = panels(QUESTIONS, sides, rows_of)
    samples = benchmarks(sides, answers, found.refused)
    made = environments(sides, sources)
    texts, answers_cut = answers.within(ANSWERS_BUDGET)
    written, sources_cut = sources.within(SOURCES_BUDGET)
    labels = [side.label for side in sides]
    bars = [(name, outcome_bars(sides, name)) for name in columns_of(sides)]
    script = "\n".join(map(_file, SCRIPTS))
    data = {
        "samples": {"labels": labels, "legend": _legend(), "benchmarks": samples, "texts": texts},
        "environments": {"labels": labels, **made.data, "texts": written},
        "curves": [_points(panel) for panel in drawn],
    }  # fmt: skip
    return _templates().get_template("page.html").render(
        head=head, sides=sides, labels=labels, many=len(sides) > 1, colours=COLOURS, bands=BANDS,
        style=Markup(_file("report.css")), script=Markup(script), policy=policy(script),
        data={name: embedded(value) for name, value in data.items()},
        scores=score_rows(sides, headline_columns(sides)), figures=figure_rows(sides), panels=drawn, forest=found,
        refusals=_refusals(found, labels), bars=bars, outcomes=(*LEGEND, "unplayed"),
        occurring={outcome for _, own in bars for bar in own for outcome, _, _ in bar.parts},
        environments=made, answers_cut=answers_cut, sources_cut=sources_cut, with_texts=bool(texts),
        alarms=_alarms(sides), config=config_settings(sides), origins=origin_settings(sides),
    )  # fmt: skip


def embedded(value: object) -> Markup:
    """JSON for a data block: no text in it can end the block or begin an element."""
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def policy(script: str) -> str:
    """The content security policy: this script and inline styles, and nothing from anywhere."""
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    parts = ("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'", "base-uri 'none'")
    return "; ".join((*parts, "form-action 'none'"))


def _alarms(sides: Sequence[Side]) -> list[str]:
    """What the runs' own watch over their health said."""
    runs = [run for side in sides for run in side.runs]
    return [f"{run.name}, {when}: {what}" for run in runs for when, what in alarms(run.metrics).items()]


def _legend() -> dict[str, object]:
    return {"letters": LETTERS[: len(LEGEND)], "outcomes": LEGEND, "unscored": UNSCORED}


def _points(panel: Panel) -> dict[str, object]:
    """What the pointer reads off a chart."""
    low, high = panel.x.low, panel.x.high
    curves = [
        {
            "label": curve.label, "many": curve.n_runs > 1,
            "points": [[round(part, 7) for part in point] for point in curve.points],
        }
        for curve in panel.curves
    ]  # fmt: skip
    return {"id": panel.question.id, "x": [low, high], "y": [panel.y.low, panel.y.high], "curves": curves}


def _refusals(found: Forest, labels: Sequence[str]) -> list[str]:
    """One text for each side and reason."""
    names: dict[tuple[int, str], list[str]] = {}
    for (side, name), reason in found.refused.items():
        names.setdefault((side, reason), []).append(name)
    return [f"{labels[side]}, {', '.join(own)}: {reason}" for (side, reason), own in names.items()]


@lru_cache(maxsize=1)
def _templates() -> Environment:
    loader = DictLoader({name: _file(name) for name in TEMPLATES})
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip


def _file(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
