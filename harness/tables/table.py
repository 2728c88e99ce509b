"""A table of many runs: from runs on disk to Markdown, LaTeX, CSV and HTML.

    spadework table results/ablations.toml      writes results/tables/table3.{md,tex,csv,html}, prints the Markdown
    spadework table A.toml B.toml               both, and they must agree where they share a method

This module is the front door: it reads a `TableSpec`, finds the evidence (run folders, or the packed copy that is
committed), lets `cells` compute and the renderers print, and writes. The same evidence gives the same bytes.
Exit code 4 when a cell is missing, unless that is allowed.
"""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from ..atomic import write_atomic
from ..errors import ExitCode, InputError, nearest
from .agreement import check_agreement
from .cells import build
from .html import html
from .latex import latex
from .pack import ITEMS, pack_runs, read_packed
from .reading import any_run, read_runs
from .result import Paper, TableResult
from .runs import Evidence
from .spec import TableSpec, load_spec
from .terminal import terminal_table
from .text import csv_text, markdown

__all__ = [
    "Evidence", "TableResult", "TableSpec", "build_table", "evidence_of", "load_spec", "pack_table", "paper_of",
    "read_packed", "read_runs", "table_command", "terminal_table", "write_table",
]  # fmt: skip

RENDERERS: dict[str, Callable[[TableResult, Paper | None], str]] = {
    "md": markdown,
    "tex": latex,
    "csv": lambda table, paper: csv_text(table),
    "html": html,
}
ALIASES = {"markdown": "md", "latex": "tex"}


def evidence_of(spec: TableSpec, folder: Path) -> Evidence:
    """Where the table's figures come from: `source` of the file decides. `folder` is the one of the table's file."""
    rows = [row.run for row in spec.rows]
    runs, packed = _folders(spec, folder)
    if spec.source == "runs" or (spec.source == "auto" and any_run(runs, rows)):
        return read_runs(runs, rows, spec.scale)
    if spec.source == "packed" or (packed / ITEMS).is_file():
        return read_packed(packed, rows, spec.scale)
    return Evidence(runs=dict.fromkeys(rows, ()))


def build_table(
    path: Path, *, scale: str | None = None, runs: Path | None = None, no_time: bool = False, rank: bool = True
) -> tuple[TableResult, Paper | None]:
    """The table that a file describes, and the paper's figures. `runs` replaces the evidence by these run folders."""
    spec = load_spec(path)
    spec = spec.at_scale(scale) if scale else spec
    spec = spec.timeless if no_time else spec
    rows = [row.run for row in spec.rows]
    evidence = read_runs(runs, rows, spec.scale) if runs else evidence_of(spec, path.parent)
    paper = paper_of(spec, path.parent)
    return build(spec, evidence, paper, rank=rank), paper


def paper_of(spec: TableSpec, folder: Path) -> Paper | None:
    """The paper's figures that stand beside ours, None when the table names no file."""
    if not spec.paper:
        return None
    path = folder / spec.paper
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except FileNotFoundError:
        raise InputError(f"no file {path}; take it from git, or take `paper` out of the table's file.") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged ({error}); take it from git again.") from None


def write_table(table: TableResult, paper: Paper | None, out: Path, formats: list[str] | None = None) -> list[Path]:
    """Write `<out>/<name>.<format>` for each format (default: all four) and return the paths."""
    paths = []
    for name in formats or list(RENDERERS):
        path = out / f"{table.spec.name}.{name}"
        write_atomic(path, RENDERERS[name](table, paper))
        paths.append(path)
    return paths


def pack_table(path: Path, *, scale: str | None = None) -> list[Path]:
    """Pack the run folders of a table's file into its `packed` folder, for git; returns the files."""
    spec = load_spec(path)
    spec = spec.at_scale(scale) if scale else spec
    runs, packed = _folders(spec, path.parent)
    return pack_runs(runs, packed, [row.run for row in spec.rows], spec.scale)


def table_command(args: argparse.Namespace) -> ExitCode:
    """The verb `table`: `file` (one or several), `format` (None: all four), `out` (None: `tables` beside the file,
    and a folder of its own there for another scale), `allow_incomplete`,
    `no_time`, `scale`, `pack` (also write the compact copy for git); what a parser does not set takes its default.
    """
    files = [Path(file) for file in (args.file if isinstance(args.file, list) else [args.file])]
    name = _format(getattr(args, "format", None))
    scale = getattr(args, "scale", None)
    built = [build_table(file, scale=scale, no_time=bool(getattr(args, "no_time", False))) for file in files]
    outs = [_out(file, table, getattr(args, "out", None)) for file, (table, _) in zip(files, built, strict=True)]
    for out in dict.fromkeys(outs):
        check_agreement([table for table, _ in built], out)
    if getattr(args, "pack", False):
        for packed in [packed for file in files for packed in pack_table(file, scale=scale)]:
            logging.info("packed %s", packed)
    codes = []
    for out, (table, paper) in zip(outs, built, strict=True):
        paths = write_table(table, paper, out, None if name is None else [name])
        print(RENDERERS[name or "md"](table, paper), end="")
        for path in paths:
            logging.info("wrote %s", path)
        codes.append(_completeness(table, args))
    return max(codes)


def _format(wanted: str | None) -> str | None:
    name = ALIASES.get(wanted, wanted) if wanted else None
    if name is not None and name not in RENDERERS:
        raise InputError(
            f"unknown format {wanted!r}{nearest(name, RENDERERS)}; the formats are {', '.join(RENDERERS)}."
        )
    return name


def _out(file: Path, table: TableResult, wanted: Path | None) -> Path:
    own = table.spec.scale == load_spec(file).scale
    return Path(wanted or file.parent / "tables" / ("" if own else table.spec.scale))


def _completeness(table: TableResult, args: argparse.Namespace) -> ExitCode:
    allowed = (
        table.spec.allow_missing or getattr(args, "allow_incomplete", False) or getattr(args, "allow_missing", False)
    )
    if table.gaps and not allowed:
        logging.warning(
            "incomplete: %s; run what is missing (`spadework reproduce`, `spadework eval`), or allow it with "
            "--allow-incomplete.", "; ".join(table.gaps),
        )  # fmt: skip
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def _folders(spec: TableSpec, folder: Path) -> tuple[Path, Path]:
    return folder / spec.runs.format(scale=spec.scale), folder / spec.packed.format(scale=spec.scale)
