"""The page in a headless Chromium: it opens, filters and turns pages, nothing overlaps, and no text of a run runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spadework.harness.cli import main
from spadework.harness.errors import ExitCode
from spadework.harness.report.browser import Browser, browser, lacking

from .written import HOSTILE, write_evaluation, write_training

pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking() or "a browser is there")
PACKED = Path(__file__).parents[3] / "results" / "reference" / "nano"
RIGHT_ARROW = "\ue014"
WATCH = """
window.faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => faults.push(event.violatedDirective));
"""
OVERLAPS = """
const clip = (rect, element) => {
  for (let box = element; box && box !== document.body; box = box.parentElement) {
    const style = getComputedStyle(box);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const edge = box.getBoundingClientRect();
    rect = { left: Math.max(rect.left, edge.left), right: Math.min(rect.right, edge.right),
      top: Math.max(rect.top, edge.top), bottom: Math.min(rect.bottom, edge.bottom) };
  }
  return rect;
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement;
  if (!node.data.trim() || parent.closest("script, option, noscript, .skip") || !parent.checkVisibility()) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const rect of range.getClientRects()) {
    const seen = clip(rect, parent);
    const visible = seen.right - seen.left > 1 && seen.bottom - seen.top > 1;
    if (visible) found.push({ node, text: node.data.trim().slice(0, 40), ...seen });
  }
}
found.sort((a, b) => a.top - b.top);
const wrong = [];
for (let i = 0; i < found.length; i += 1) {
  for (let j = i + 1; j < found.length && found[j].top < found[i].bottom - 2; j += 1) {
    const [a, b] = [found[i], found[j]];
    const common = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    if (a.node !== b.node && common > 1.5) wrong.push(`${a.text} / ${b.text}`);
  }
}
const beyond = found.filter((one) => one.left < 0 || one.right > innerWidth + 0.5);
wrong.push(...beyond.map((one) => `beyond the edge: ${one.text}`));
for (const entry of document.querySelectorAll("main > section")) {
  for (const other of document.querySelectorAll("main > section")) {
    const [a, b] = [entry.getBoundingClientRect(), other.getBoundingClientRect()];
    if (a.top < b.top && a.bottom > b.top + 0.5) wrong.push(`section ${entry.id} over ${other.id}`);
  }
}
return [found.length, wrong, document.documentElement.scrollWidth - innerWidth];
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        found.command("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        yield found


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evaluations whose answers try to get out of their place."""
    folder = tmp_path_factory.mktemp("evaluations")
    runs = write_evaluation(folder / "old", right=0.5, answer=HOSTILE), write_evaluation(folder / "new", right=0.8)
    return made(folder / "page.html", *runs)


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods over two seeds."""
    folder = tmp_path_factory.mktemp("trainings")
    for row in ("spade", "no_corpus"):
        for seed in range(2):
            write_training(folder / row / f"seed{seed}", seed=seed)
    return made(folder / "page.html", folder / "spade", folder / "no_corpus")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three rows of the published table."""
    rows = [PACKED / f"{row}.json.gz" for row in ("spade", "no_corpus", "fixed_env")]
    return made(tmp_path_factory.mktemp("packed") / "page.html", *rows)


def made(page: Path, *runs: Path) -> Path:
    assert main(["report", *map(str, runs), "--out", str(page)]) == ExitCode.OK
    return page


def opened(chromium: Browser, page: Path, width: int = 1280) -> None:
    chromium.resize(width)
    chromium.open(page)
    assert chromium.run("return document.documentElement.dataset.ready") == "yes"
    assert chromium.run("return window.faults") == []


def status(chromium: Browser, viewer: str) -> str:
    return str(chromium.run(f"return document.querySelector('#{viewer}-viewer .status').textContent"))


def choose(chromium: Browser, viewer: str, name: str, text: str) -> None:
    """Choose the option with this text."""
    chromium.run(
        "const field = document.querySelector(`#${arguments[0]}-viewer [name=${arguments[1]}]`);"
        "field.value = [...field.options].find((option) => option.textContent === arguments[2]).value;"
        "field.dispatchEvent(new Event('change'));",
        viewer, name, text,
    )  # fmt: skip


def typed(chromium: Browser, viewer: str, text: str) -> None:
    """Search for a text, and wait until the viewer has looked for it."""
    wait = (
        "const [viewer, text, done] = arguments, field = document.querySelector(`#${viewer}-viewer [name=text]`);"
        "const rows = document.querySelector(`#${viewer}-rows`);"
        "new MutationObserver(() => done(true)).observe(rows, { childList: true });"
        "field.value = text; field.dispatchEvent(new Event('input'));"
    )
    chromium.run_async(wait, viewer, text)


def entries(chromium: Browser, viewer: str) -> list[str]:
    shown = f"return [...document.querySelector('#{viewer}-rows').children].map((row) => row.innerText)"
    rows: list[Any] = chromium.run(shown)
    return [str(row) for row in rows]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("what", ["evaluations", "trainings", "packed"])
def test_no_text_overlaps_another_and_the_page_does_not_scroll_sideways(
    chromium: Browser, request: pytest.FixtureRequest, what: str, width: int
) -> None:
    opened(chromium, request.getfixturevalue(what), width)
    chromium.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    texts, wrong, beyond = chromium.run(OVERLAPS)
    assert texts > 100 and wrong == [] and beyond <= 0


def test_the_test_of_overlaps_sees_one(chromium: Browser, evaluations: Path) -> None:
    opened(chromium, evaluations)
    chromium.run("document.querySelector('#outcomes').style.marginTop = '-6rem'")
    assert chromium.run(OVERLAPS)[1]


def test_filters_show_what_they_say(chromium: Browser, evaluations: Path) -> None:
    opened(chromium, evaluations)
    assert status(chromium, "samples") == "1–20 of 60 items"
    choose(chromium, "samples", "flips", "flipped to better")
    better = entries(chromium, "samples")
    assert better and all("flipped to better" in entry for entry in better)
    assert status(chromium, "samples").endswith("(60 in all)")
    choose(chromium, "samples", "category", "odd")
    assert all("odd" in entry for entry in entries(chromium, "samples"))
    choose(chromium, "samples", "flips", "all")
    choose(chromium, "samples", "category", "all")
    choose(chromium, "samples", "outcome", "truncated")
    assert all("truncated" in entry for entry in entries(chromium, "samples"))
    choose(chromium, "samples", "outcome", "any")
    typed(chromium, "samples", "ANSWER 7 of new")
    (only,) = entries(chromium, "samples")
    assert "item-00007" in only


def test_pages_are_turned_by_button_and_by_key(chromium: Browser, evaluations: Path) -> None:
    opened(chromium, evaluations)
    first = entries(chromium, "samples")
    chromium.run("document.querySelector('#samples-viewer .next').click()")
    assert status(chromium, "samples").startswith("21–40")
    chromium.press("#samples-viewer .next", RIGHT_ARROW)
    assert status(chromium, "samples").startswith("41–60") and not set(first) & set(entries(chromium, "samples"))
    assert chromium.run("return document.querySelector('#samples-viewer .next').disabled")


def test_environments_open_with_hint_and_coloured_source(chromium: Browser, trainings: Path) -> None:
    opened(chromium, trainings)
    assert status(chromium, "environments") == "1–10 of 76 environments (96 in all)"
    choose(chromium, "environments", "order", "highest regret first")
    chromium.run("document.querySelector('#environments-rows summary').click()")
    chromium.run_async(
        "const look = () => (document.querySelector('.source') ? arguments[0](true) : setTimeout(look, 20)); look()"
    )
    assert chromium.run("return document.querySelector('.source .k').textContent") == "import"
    assert "class HiddenEnv" in chromium.run("return document.querySelector('.source').textContent")
    choose(chromium, "environments", "state", "rejected")
    assert all("rejected: raises" in entry for entry in entries(chromium, "environments"))


def test_a_chart_reads_its_figures_out_by_key(chromium: Browser, trainings: Path) -> None:
    opened(chromium, trainings)
    chromium.press(".chart[data-chart=return] .plot", RIGHT_ARROW)
    said = chromium.run("return document.querySelector('.chart[data-chart=return] .readout').textContent")
    assert said.startswith("step 0 · spade, without hint 0.2")


@pytest.mark.parametrize("what", ["evaluations", "trainings"])
def test_no_text_of_a_run_runs_and_nothing_is_asked_of_a_network(
    chromium: Browser, request: pytest.FixtureRequest, what: str
) -> None:
    opened(chromium, request.getfixturevalue(what))
    chromium.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for viewer in ("samples", "environments"):
        while not chromium.run(f"const b = document.querySelector('#{viewer}-viewer .next'); return !b || b.disabled"):
            chromium.run(f"document.querySelector('#{viewer}-viewer .next').click()")
    assert chromium.run("return window.ran === undefined")
    assert chromium.run("return document.querySelectorAll('img, main svg[onload], iframe, main a').length") == 0
    assert chromium.run("return performance.getEntriesByType('resource').length") == 0
    assert chromium.run("return window.faults") == []
    assert "window.ran" in chromium.run("return document.body.textContent")
