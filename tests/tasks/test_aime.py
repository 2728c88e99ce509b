import hashlib
import json
from pathlib import Path

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")
pytest.importorskip("math_verify", reason="math-verify is not installed")

from kept import Kept, players, preset_of, samples

from spadework.harness.errors import InputError
from spadework.harness.types import Completion, Finish, Outcome, Usage
from spadework.tasks.aime import AIME_2025, AIME_2026, STEPS, Aime

MODULE = "spadework.tasks.aime"
INVENTED = [{"id": f"I-{n}", "problem": f"Invented for a test: what is {n} plus {n * 7}?", "answer": str(n * 8)}
            for n in range(30)]  # fmt: skip


def written(folder: Path, rows: list[dict[str, object]], year: int = 2026) -> Path:
    (folder / "aime").mkdir(exist_ok=True)
    text = "\n".join(map(json.dumps, rows)) + "\n"
    (folder / "aime" / f"aime_{year}.jsonl").write_text(text)
    return folder


def test_a_sample_ends_as_its_answer_and_its_completion_say(tmp_path: Path) -> None:
    preset = preset_of(AIME_2026, MODULE, "validation")
    items = AIME_2026.load(preset, written(tmp_path, INVENTED))
    due = samples(items[:9])
    answer = str(items[0].payload.answer)  # type: ignore[attr-defined]
    box = f"\\boxed{{{answer}}}"

    def ended(text: str, finish: Finish, error: str = "") -> Completion:
        return Completion(ids=(), logprobs=(), text=text, finish=finish, error=error)

    said: list[str | Completion] = [
        f"<think>{box}</think> so {box}", "\\boxed{999}", f"<think>{box} still thinking", f"{box} <think>", "no idea",
        ended(box, Finish.LENGTH), ended("", Finish.REFUSED), ended("", Finish.CONTEXT, "the prompt is too long"),
        ended("", Finish.FAILED, "status 500"),
    ]  # fmt: skip
    wanted = [
        Outcome.RIGHT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.NO_ANSWER, Outcome.NO_ANSWER, Outcome.TRUNCATED,
        Outcome.REFUSED, Outcome.CONTEXT_OVERFLOW, Outcome.INFRA_ERROR,
    ]  # fmt: skip
    by_seed = {one.seed: text for one, text in zip(due, said, strict=True)}
    sink = Kept()
    AIME_2026.run([due[0]] * 1 + due[1:], preset, players(lambda request: by_seed[request.seed]), sink)
    assert [sink.by_key[one.item.id, 0].outcome for one in due] == wanted
    assert [sink.by_key[one.item.id, 0].score for one in due] == [1.0, *[0.0] * 7, None]
    assert sink.by_key[due[5].item.id, 0].answer == answer, "what was cut off is still told"
    assert sink.by_key[due[8].item.id, 0].detail == "status 500"


def test_prompts_are_those_of_the_protocols_and_every_repeat_is_asked(tmp_path: Path) -> None:
    items = AIME_2026.load(preset_of(AIME_2026, MODULE, "validation"), written(tmp_path, INVENTED))
    for name, start, end in (
        ("paper-inloop", "Invented for a test", "?\n" + STEPS),
        ("official", "Put your final answer within \\boxed{}.\nThe answer is an integer between 0 and 999", "?"),
    ):
        preset, cast, sink = preset_of(AIME_2026, MODULE, name), players(lambda _: "\\boxed{8}"), Kept()
        AIME_2026.run(samples(items[:2], 3), preset, cast, sink)
        asked = [request.messages[0].content for request in cast.model.requests]  # type: ignore[attr-defined]
        assert all(text.startswith(start) and text.endswith(end) for text in asked)
        assert len(sink.by_key) == len(sink.scored) == 6
        assert {request.sampling for request in cast.model.requests} == {preset.sampling}  # type: ignore[attr-defined]


def test_a_perfect_player_is_right_and_its_answers_are_right_again(tmp_path: Path) -> None:
    preset = preset_of(AIME_2026, MODULE, "paper-inloop")
    items = AIME_2026.load(preset, written(tmp_path, INVENTED))
    due = samples(items)
    replies = {one.seed: AIME_2026.gold_replies(one.item)[0].content for one in due}
    sink = Kept()
    AIME_2026.run(due, preset, players(lambda request: replies[request.seed]), sink)
    assert all(one.outcome is Outcome.RIGHT for one in sink.scored)
    by_id = {item.id: item for item in items}
    assert all(AIME_2026.rescore(by_id[one.item], one.answer, preset) == (Outcome.RIGHT, 1.0) for one in sink.scored)
    assert AIME_2026.rescore(items[0], "\\log_2 1", preset) == (Outcome.RIGHT, 1.0), "algebra, in the jail"
    assert not sink.reports, "integers need no algebra"


def test_tokens_are_kept_and_no_text(tmp_path: Path) -> None:
    preset = preset_of(AIME_2026, MODULE, "validation")
    items = AIME_2026.load(preset, written(tmp_path, INVENTED))
    usage = Usage(prompt_tokens=31, completion_tokens=7)
    done = Completion(ids=(), logprobs=(), text="\\boxed{0}", finish=Finish.STOP, usage=usage)
    sink = Kept()
    AIME_2026.run(samples(items[:1]), preset, players(lambda _: done), sink)
    assert sink.scored[0].facts == {"prompt_tokens": 31, "completion_tokens": 7}
    assert "Invented" not in repr(items) and "Invented" not in repr(sink.scored)


@pytest.mark.parametrize("year", [2025, 2026])
def test_the_ids_do_not_depend_on_the_shape_of_the_file(tmp_path: Path, year: int) -> None:
    benchmark = Aime(year)
    preset = preset_of(AIME_2026, MODULE, "validation")
    plain = written(tmp_path, INVENTED, year)
    prepared = [
        {"prompt": [{"role": "user", "content": f"{row['problem']}\n{STEPS}\n{STEPS}"}], "label": [int(row["answer"])]}
        for row in INVENTED
    ]
    (tmp_path / "spade").mkdir()
    spade = written(tmp_path / "spade", prepared, year)
    if year == 2025:
        with pytest.raises(InputError, match="its answers are not those of AIME 2025"):
            benchmark.load(preset, plain)
        return
    assert benchmark.load(preset, plain) == benchmark.load(preset, spade)
    assert benchmark.load(preset, plain / "aime" / "aime_2026.jsonl") == benchmark.load(preset, plain)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[:29], "holds 29 problems"),
        (lambda rows: [*rows[:29], rows[0]], "some twice"),
        (lambda rows: [*rows[:29], {"problem": "a secret", "answer": "1000"}], "problem 30: no text with an integer"),
        (lambda rows: [*rows[:29], {"problem": "a secret", "answer": "x+1"}], "problem 30"),
        (lambda rows: [*rows[:29], {"problem": "a secret"}], "problem 30"),
        (lambda rows: [*rows[:29], {"problem": "a secret", "answer": "\x0c1"}], "problem 30"),
        (lambda rows: [*rows[:29], ["a secret"]], "problem 30"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_quotes_nothing(tmp_path: Path, change: object, sentence: str) -> None:
    """Report P014 for the form feed."""
    folder = written(tmp_path, change(INVENTED))  # type: ignore[operator]
    with pytest.raises(InputError, match=sentence) as told:
        AIME_2026.load(preset_of(AIME_2026, MODULE, "validation"), folder)
    assert "secret" not in str(told.value) and str(folder) in str(told.value)


def test_broken_json_and_a_missing_file_are_one_sentence(tmp_path: Path) -> None:
    preset = preset_of(AIME_2026, MODULE, "validation")
    with pytest.raises(InputError, match="no file .*aime_2026.jsonl"):
        AIME_2026.load(preset, tmp_path)
    folder = written(tmp_path, INVENTED)
    (folder / "aime" / "aime_2026.jsonl").write_text('{"problem": "a secret"')
    with pytest.raises(InputError, match="line 1: no JSON object") as told:
        AIME_2026.load(preset, folder)
    assert "secret" not in str(told.value)


def test_without_a_file_and_offline_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="may not be fetched offline; give --data DIR with DIR/aime/aime_2026.jsonl"):
        AIME_2026.load(preset_of(AIME_2026, MODULE, "validation"), None)


def test_the_shared_problems_of_2025_are_known_by_their_checksum_or_by_their_answers(
    data: Path, tmp_path: Path
) -> None:
    preset = preset_of(AIME_2025, MODULE, "validation")
    items = AIME_2025.load(preset, data)
    assert len({item.id for item in items}) == 30
    rows = [json.loads(line) for line in (data / "aime" / "aime_2025.jsonl").read_text().splitlines()]
    other = written(tmp_path, [{"problem": row["problem"], "answer": int(row["answer"])} for row in rows], 2025)
    assert AIME_2025.load(preset, other) == items, "another file of the same problems"
    rows[3]["answer"] = str((int(rows[3]["answer"]) + 1) % 1000)
    wrong = written(tmp_path, rows, 2025)
    with pytest.raises(InputError, match=hashlib.sha256((wrong / "aime/aime_2025.jsonl").read_bytes()).hexdigest()):
        AIME_2025.load(preset, wrong)


def test_what_no_checksum_vouches_for_is_said(data: Path, tmp_path: Path) -> None:
    """A file with other texts and the right answers is taken, and every score says so."""
    preset = preset_of(AIME_2025, MODULE, "validation")
    assert AIME_2025.unverified(preset, data) == AIME_2026.unverified(preset, None) == ""
    rows = [json.loads(line) for line in (data / "aime" / "aime_2025.jsonl").read_text().splitlines()]
    rows[3]["problem"] += " Or was it?"
    other = written(tmp_path, rows, 2025)
    assert len(AIME_2025.load(preset, other)) == 30
    said = AIME_2025.unverified(preset, other)
    assert said == "aime_2025.jsonl is not known (its answers are those of the contest)"
    said = AIME_2026.unverified(preset, written(tmp_path, INVENTED))
    assert said == "aime_2026.jsonl is not known (of no file the checksum is known)"


@pytest.mark.network
@pytest.mark.parametrize("benchmark", [AIME_2025, AIME_2026], ids=lambda one: one.name)
def test_the_hub_has_the_problems_at_the_pinned_revision(benchmark: Aime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    try:
        items = benchmark.load(preset_of(AIME_2026, MODULE, "validation"), None)
    except InputError as error:
        if "cannot be fetched" not in str(error):
            raise
        pytest.skip(str(error))
    assert len(items) == 30
