"""LaTeX whatever stands in a label: balanced, every line with as many cells as the head, nothing left unescaped."""

import re
from pathlib import Path

import pytest

from spadework.harness.tables.latex import escaped, guarded, latex
from spadework.harness.tables.table import build_table

from ..run_fixtures import write_definition, write_runs

WICKED = r"[50%] & a_b # $5 {x} ~ ^ \input{y} \\"
COMMANDS = {
    "approx", "begin", "bottomrule", "caption", "cdot", "centering", "downarrow", "end", "footnotesize", "item",
    "label", "midrule", "scriptsize", "setlength", "tabcolsep", "textasciicircum", "textasciitilde", "textbackslash",
    "textbar", "textbf", "textit", "textsuperscript", "tiny", "toprule", "underline", "uparrow", "usepackage",
}  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table with a label and a title that hold every special sign."""
    file = write_definition(tmp_path_factory.mktemp("latex") / "results")
    written = file.read_text().replace('label = "SPADE"', f"label = '{WICKED}'")
    file.write_text(written.replace("Component ablation", "[A_B] 50% & more"))
    write_runs(file.parent / Path("runs/nano"), rows=["base", "spade", "rlve"], items=10)
    return latex(*build_table(file))


def without_comments(text: str) -> str:
    return re.sub(r"(?<!\\)%.*", "", text)


def test_braces_are_balanced_and_only_known_commands_are_used(text: str) -> None:
    bare = re.sub(r"\\[{}]", "", without_comments(text))
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= COMMANDS


def test_every_line_of_a_tabular_has_as_many_cells_as_its_head(text: str) -> None:
    found = re.findall(r"\\begin\{tabular\}\{(l[r]*)\}(.*?)\\end\{tabular\}", without_comments(text), re.DOTALL)
    assert len(found) == 4
    for columns, body in found:
        lines = [line for line in body.splitlines() if re.search(r"\\\\(\[[-\d.]+ex\])? *$", line)]
        assert len(lines) >= 6
        assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(columns) - 1}


def test_no_line_begins_with_what_latex_would_take_for_an_option(text: str) -> None:
    assert not [line for line in text.splitlines() if line.startswith(("[", "*"))]
    assert not re.search(r"\\item \[", text)
    assert r"{}[50\%] \& a\_b \# \$5 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}input\{y\}" in text
    assert guarded("*x") == "{}*x" and guarded("x[") == "x["


def test_a_row_ends_with_the_runs_behind_it_in_a_comment(text: str) -> None:
    assert re.search(r"^ & .*\\\\\[0\.4ex\] % nano/spade/seed0$", text, re.MULTILINE)


def test_the_best_is_bold_and_the_legend_says_what_it_means(text: str) -> None:
    assert r"\textbf{" in text and r"\textbf{Bold}: the best of its column; \underline{underlined}: not shown" in text


def test_signs_beyond_ascii_are_printed_or_become_a_question_mark() -> None:
    assert escaped("Müller τ²-bench ± 3 × “a”…") == "Müller $\\tau$$^2$-bench $\\pm$ 3 $\\times$ ``a''\\dots{}"
    assert escaped("模型 ŧ") == "?? ?"
