"""Reasoning-Gym from its items to its results: the package's scorers in the jail, scripted players, inspect-ai."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")

from kept import Kept, preset_of, samples

from spadework.harness.benchmark import Players, Preset, TaskItem
from spadework.harness.errors import InputError
from spadework.harness.evaluation.due import group_of
from spadework.harness.sandbox import RunLimits
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Outcome
from spadework.tasks.reasoning_gym import ReasoningGym
from spadework.tasks.reasoning_gym_items import Made, suite
from spadework.tasks.reasoning_gym_scores import PackageScorer

MODULE = "spadework.tasks.reasoning_gym"
TASKS = (
    "gcd", "spiral_matrix", "game_of_life_halting", "complex_arithmetic", "prime_factorization", "countdown",
    "graph_color", "n_queens", "number_sorting", "jugs",
)  # fmt: skip


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> ReasoningGym:
    return ReasoningGym(tmp_path_factory.mktemp("items"))


@pytest.fixture(scope="module")
def scorer() -> Iterator[PackageScorer]:
    with PackageScorer(limits=RunLimits(cpu_s=1.0, memory_mb=1024)) as one:
        yield one


def preset(name: str = "paper-inloop", tasks: tuple[str, ...] = TASKS) -> Preset:
    found = preset_of(ReasoningGym(), MODULE, name)
    return replace(found, exclude=tuple(f"*/{task}" for task in suite() if task not in tasks))


@pytest.fixture(scope="module")
def items(benchmark: ReasoningGym) -> list[TaskItem]:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    return benchmark.load(preset(), None)


def first(items: list[TaskItem], task: str) -> tuple[str, Made]:
    """The second item of a task; the first of `jugs` has no solution."""
    found = [item for item in items if item.category.endswith(f"/{task}")]
    assert isinstance(found[1].payload, Made)
    return found[1].category, found[1].payload


@pytest.mark.parametrize(
    ("task", "answer", "package", "guarded"),
    [
        ("gcd", "GOLD", "right", "right"),
        ("gcd", "GOLD.0", "wrong", "right"),
        ("gcd", "\\boxed{GOLD}", "wrong", "right"),
        ("gcd", "GOLD5", "wrong", "wrong"),
        ("gcd", "nan", "wrong", "wrong"),
        ("game_of_life_halting", "banana", "right", "wrong"),
        ("complex_arithmetic", "nan", "right", "wrong"),
        ("complex_arithmetic", "GOLD", "right", "right"),
        ("prime_factorization", "I do not know", "wrong", "wrong"),
        ("prime_factorization", "GOLD", "right", "right"),
        ("countdown", "46", "wrong", "wrong"),
        ("countdown", "GOLD", "right", "right"),
        ("number_sorting", "GOLD", "right", "right"),
        ("graph_color", "{}", "wrong", "wrong"),
        ("graph_color", "[", "wrong", "wrong"),
        ("jugs", "{}", "wrong", "wrong"),
    ],
)
def test_an_answer(
    task: str, answer: str, package: str, guarded: str, items: list[TaskItem], scorer: PackageScorer
) -> None:
    """L230, L231, P058, P059, P060: what the package says, and what is said behind the guards; never an exception."""
    category, item = first(items, task)
    given = answer.replace("GOLD", item.answer or "")
    assert str(scorer.judge(category, item, given, guards=False).outcome) == package
    assert str(scorer.judge(category, item, given, guards=True).outcome) == guarded


@pytest.mark.parametrize("task", ["spiral_matrix", "n_queens", "countdown"])
def test_an_answer_that_is_a_program_cannot_harm_or_win(
    task: str, items: list[TaskItem], scorer: PackageScorer, tmp_path: Path
) -> None:  # fmt: skip
    """Four of the package's scorers evaluate an answer as Python: here they do so in the jail."""
    category, item = first(items, task)
    attacks = (
        f"__import__('os').system('touch {tmp_path}/made')", f"open('{tmp_path}/made', 'w')", "exit()",
        "__import__('os')._exit(0)", "exec('while True: pass')", "9**9**9**9", "[0] * 10**12",
    )  # fmt: skip
    for answer in attacks:
        for guards in (False, True):
            judged = scorer.judge(category, item, answer, guards)
            assert judged.outcome is Outcome.WRONG, (answer, judged)
    assert list(tmp_path.iterdir()) == []
    assert scorer.judge(category, item, item.answer, guards=True).outcome is Outcome.RIGHT


def test_a_scorer_that_is_dead_is_no_verdict(items: list[TaskItem]) -> None:
    scorer = PackageScorer()
    scorer.close()
    judged = scorer.judge(*first(items, "gcd"), "1", guards=False)
    assert judged.outcome is Outcome.SCORER_ERROR and judged.score is None


def test_no_answer_is_no_answer(items: list[TaskItem], scorer: PackageScorer) -> None:
    assert scorer.judge(*first(items, "gcd"), None, guards=True).outcome is Outcome.NO_ANSWER


def test_the_packages_own_answers_are_right_and_the_empty_one_is_not(
    benchmark: ReasoningGym, items: list[TaskItem], tmp_path: Path
) -> None:
    """One item of `jugs` has no solution, and `graph_color` has no answer of its own."""
    replies = {one.seed: benchmark.gold_replies(one.item) for one in samples(items)}

    def gold(request: object) -> str:
        (reply,) = replies[request.seed] or [None]  # type: ignore[attr-defined]
        return "" if reply is None else reply.content

    sink = Kept()
    benchmark.run(samples(items), preset(), Players(model=ScriptedChat(gold), logs=tmp_path), sink)
    ends = {(one.category.rpartition("/")[2], str(one.outcome)) for one in sink.scored}
    right = {(task, "right") for task in TASKS if task != "graph_color"}
    assert ends == {*right, ("graph_color", "no_answer"), ("jugs", "wrong")}
    assert len(sink.scored) == 40 and sink.reports and len(list(tmp_path.glob("*.eval"))) == 1
    for one in sink.scored:
        (item,) = [item for item in items if item.id == one.item]
        assert benchmark.rescore(item, one.answer, preset()) == (one.outcome, one.score)


def test_a_part_of_a_score_is_kept_and_is_not_right(benchmark: ReasoningGym, items: list[TaskItem]) -> None:
    sink = Kept()
    played = [one for one in samples(items) if one.item.category.endswith("countdown")]
    benchmark.run(played, preset(), Players(model=ScriptedChat(lambda _: "<answer>46</answer>")), sink)
    assert {one.outcome for one in sink.scored} == {Outcome.WRONG}
    assert all(one.score is not None and 0 < one.score < 1 for one in sink.scored)


def test_an_item_that_could_not_be_made_is_a_scorer_error_and_is_not_asked(benchmark: ReasoningGym) -> None:
    item = TaskItem(id="x", category="cognition/number_sequence", gold="g", payload=Made(error="not made in 60 s"))
    model, sink = ScriptedChat(lambda _: "1"), Kept()
    benchmark.run(samples([item]), preset(), Players(model=model), sink)
    (one,) = sink.scored
    assert one.outcome is Outcome.SCORER_ERROR and one.score is None and "not made in 60 s" in one.detail
    assert model.requests == []


def test_what_is_cut_off_is_truncated(benchmark: ReasoningGym, items: list[TaskItem]) -> None:
    sink = Kept()
    cut = Completion(ids=(), logprobs=(), text="<answer>1</answer>", finish=Finish.LENGTH)
    benchmark.run(samples(items[:1]), preset(), Players(model=ScriptedChat(lambda _: cut)), sink)
    assert sink.scored[0].outcome is Outcome.TRUNCATED


def test_prompts_are_those_of_the_protocols(benchmark: ReasoningGym, items: list[TaskItem]) -> None:
    for name, roles in {"paper-inloop": ["user"], "official": ["system", "user"]}.items():
        model = ScriptedChat(lambda _: "<answer>1</answer>")
        benchmark.run(samples(items[:1]), replace(preset(name), exclude=()), Players(model=model), Kept())
        (request,) = model.requests
        assert [message.role for message in request.messages] == roles
        assert "<answer>answer here</answer>" in request.messages[0].content
        assert ("\\boxed{}" in request.messages[-1].content) == (name == "paper-inloop")


def test_categories_are_groups_with_tasks(items: list[TaskItem]) -> None:
    assert {group_of(item.category) for item in items} == {"math", "algorithmic", "cognition"}
    assert len({item.id for item in items}) == len(items) == 40


def test_words_of_a_preset_that_there_are_not_are_one_error(benchmark: ReasoningGym) -> None:
    for name, value in {"prompt": "answer-tag", "extraction": "answer-tags", "scorer": "guarded-all"}.items():
        with pytest.raises(InputError, match="did you mean"):
            benchmark.load(replace(preset(), **{name: value}), None)  # type: ignore[arg-type]
