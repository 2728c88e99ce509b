"""The adapter to inspect-ai: what reaches our port, when results are told, what its log shows, what is left behind."""

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalLog, read_eval_log
from inspect_ai.model import ChatMessageTool, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from spadework.harness.adapters.inspect_ai import Stage, Staging, in_thread, play, unscored
from spadework.harness.adapters.inspect_model import PLAYING, Playing, ask
from spadework.harness.benchmark import Due, Players, Preset, Scored, TaskItem
from spadework.harness.engines.gathering import Gathered
from spadework.harness.sandbox import SandboxReport
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Message, Model, Outcome, Request, Sampling, ToolCall, Usage

PRESET = Preset(
    benchmark="sums", name="test", source="here",
    sampling=Sampling(temperature=0.7, top_p=0.8, top_k=20, max_new_tokens=9),
    user_sampling=Sampling(temperature=0.0, max_new_tokens=5),
)  # fmt: skip


class Told:
    """A sink that notes when each result came."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.results: dict[str, Scored] = {}
        self.completions: dict[str, Sequence[Completion]] = {}
        self.after: dict[str, float] = {}

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        assert scored.item not in self.results, "told twice"
        self.results[scored.item] = scored
        self.completions[scored.item] = completions
        self.after[scored.item] = time.perf_counter() - self.began

    def sandboxed(self, report: SandboxReport) -> None:
        """Nothing runs in one here."""


def due(count: int) -> list[Due]:
    items = [TaskItem(id=f"item{n}", category="sums", gold=f"gold{n}", payload=n) for n in range(count)]
    return [Due(item=item, repeat=0, seed=100 + n) for n, item in enumerate(items)]


def right(playing: Playing) -> Scored:
    done = unscored(playing.due, Outcome.RIGHT, "")
    return replace(done, score=1.0, answer=playing.completions[-1].text)


def sums(judge: Callable[[Playing], Scored] = right, **changes: object) -> Staging:
    staging = Staging(
        name="sums", sample=lambda one: Sample(input=f"What is {one.seed} + 1?", target=one.item.gold),
        solver=generate(), judge=in_thread(judge, 2),
    )  # fmt: skip
    return replace(staging, **changes)


def played(model: Model, samples: Sequence[Due], staging: Staging | None = None, **players: object) -> Told:
    told = Told()
    play(staging or sums(), samples, PRESET, Players(model=model, **players), told)  # type: ignore[arg-type]
    return told


def read(folder: Path) -> EvalLog:
    (path,) = folder.glob("*.eval")
    return read_eval_log(str(path))


def test_a_request_carries_the_words_the_sampling_and_the_seed_of_its_sample() -> None:
    model = ScriptedChat(lambda request: f"{request.seed + 1}")
    told = played(model, due(5))
    assert {one.answer for one in told.results.values()} == {str(n + 1) for n in range(100, 105)}
    (first,) = [request for request in model.requests if request.seed == 100]
    assert first.messages == (Message(role="user", content="What is 100 + 1?"),)
    assert first.sampling == PRESET.sampling and first.tools == ()


def test_one_samples_failure_is_its_own_whoever_fails() -> None:
    """P208, P115: the engine's word is an infrastructure error, the judge's a scorer error, the siblings are scored."""

    class Engine:
        def generate(self, requests: Sequence[Request]) -> list[Completion]:
            if requests[0].seed == 101:
                raise RuntimeError("no memory left")
            if requests[0].seed == 102:
                return [Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error="server hung up")]
            return [Completion(ids=(), logprobs=(), text="x", finish=Finish.STOP)]

        def forget(self) -> None:
            """Nothing is kept."""

    def judge(playing: Playing) -> Scored:
        if playing.due.seed == 103:
            raise ZeroDivisionError("a fault of the judge")
        return right(playing)

    told = played(Engine(), due(6), sums(judge))
    assert [str(told.results[f"item{n}"].outcome) for n in range(6)] == [
        "right", "infra_error", "infra_error", "scorer_error", "right", "right",
    ]  # fmt: skip
    assert told.results["item2"].detail == "server hung up" and told.results["item2"].score is None
    assert "no memory left" in told.results["item1"].detail and "fault of the judge" in told.results["item3"].detail


def test_a_sample_that_is_broken_off_with_all_others_is_no_fault_of_its_scorer(tmp_path: Path) -> None:
    """A log that finds no room on the disk: inspect ends everything, and what was just judged is to be played again."""
    played(ScriptedChat(lambda _: "x"), due(1), logs=tmp_path)
    log, told = read(tmp_path), Told()
    log.error = EvalError(message="No space left on device", traceback="", traceback_ansi="")
    log.samples = []
    stage = Stage(sums(), due(2), told)
    stage.enter("item0/0", None).judging = True  # type: ignore[arg-type]
    stage.settle(log)
    assert {(str(one.outcome), one.detail) for one in told.results.values()} == {
        ("infra_error", "No space left on device")
    }


class Slow:
    """Answers after so many hundredths of a second as the seed says beyond 100."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        time.sleep(max(request.seed - 100 for request in requests) / 100)
        return ScriptedChat(lambda request: "x").generate(requests)

    def forget(self) -> None:
        """Nothing is kept."""


def test_a_result_is_told_when_it_is_there_and_not_when_all_are() -> None:
    slow = [replace(one, seed=300) if one.item.id == "item0" else one for one in due(4)]
    told = played(Slow(), slow)
    assert max(told.after[f"item{n}"] for n in (1, 2, 3)) < told.after["item0"] - 1


def test_requests_of_samples_that_begin_together_make_one_batch() -> None:
    sizes = []

    class Engine:
        def generate(self, requests: Sequence[Request]) -> list[Completion]:
            sizes.append(len(requests))
            return ScriptedChat(lambda request: "x").generate(requests)

        def forget(self) -> None:
            """Nothing is kept."""

    played(Gathered(Engine()), due(40))
    assert sum(sizes) == 40 and len(sizes) <= 5, sizes  # a crowded machine may let the first ones go ahead


def test_the_log_opens_and_shows_question_answer_verdict_and_sampling(tmp_path: Path) -> None:
    def judge(playing: Playing) -> Scored:
        return right(playing) if playing.due.seed != 101 else unscored(playing.due, Outcome.SCORER_ERROR, "no idea")

    played(ScriptedChat(lambda request: "42"), due(3), sums(judge), logs=tmp_path)
    log = read(tmp_path)
    assert log.status == "success" and log.samples is not None and log.results is not None
    assert [sample.id for sample in log.samples] == ["item0/0", "item1/0", "item2/0"]
    assert log.samples[0].input == "What is 100 + 1?" and log.samples[0].output.completion == "42"
    scores = [sample.scores["verdict"] for sample in log.samples if sample.scores is not None]
    assert [score.metadata["outcome"] for score in scores if score.metadata] == ["right", "scorer_error", "right"]
    assert log.results.scores[0].metrics["mean"].value == 1.0, "what has no score is in no mean"
    assert log.eval.model_generate_config.temperature == 0.7 and log.eval.model_generate_config.top_k == 20


def test_repeats_of_an_item_keep_their_own_answers(tmp_path: Path) -> None:
    """P224: inspect's own repeats lose answers that differ."""
    again = [replace(one, repeat=repeat, seed=one.seed + 10 * repeat) for one in due(1) for repeat in range(3)]

    class Every(Told):
        def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
            super().put(replace(scored, item=f"{scored.item}/{scored.repeat}"), completions)

    told = Every()
    play(sums(), again, PRESET, Players(model=ScriptedChat(lambda request: f"{request.seed}"), logs=tmp_path), told)
    assert {name: one.answer for name, one in told.results.items()} == {
        "item0/0": "100", "item0/1": "110", "item0/2": "120",
    }  # fmt: skip
    shown = {sample.id: sample.scores["verdict"].answer for sample in read(tmp_path).samples or () if sample.scores}
    assert shown == {name: one.answer for name, one in told.results.items()}


SECRET = "a lighthouse keeper counts the seventeen green lamps of the harbour twice every single night"


def test_the_log_of_a_closed_benchmark_holds_no_word_of_its_problems(tmp_path: Path) -> None:
    @solver
    def past_inspect() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            number = PLAYING.get().due.seed
            await ask([Message(role="user", content=f"{SECRET} {number}")])
            return state

        return solve

    def script(request: Request) -> str | Completion:
        asked = request.messages[0].content
        if request.seed == 102:
            return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=f"cannot do {asked}")
        return asked if request.seed == 101 else "17"

    staging = sums(
        sample=lambda one: Sample(input=one.item.id, target=one.item.gold), solver=past_inspect(),
        problem=lambda one: f"{SECRET} {one.seed}",
    )  # fmt: skip
    told = played(ScriptedChat(script), due(3), staging, logs=tmp_path)
    assert told.results["item0"].answer == "17" and told.results["item2"].outcome is Outcome.INFRA_ERROR
    log = read(tmp_path)
    text = log.model_dump_json()
    assert "lighthouse" not in text and "item0" in text
    assert log.samples is not None and log.samples[1].scores is not None
    assert log.samples[1].scores["verdict"].answer == "(quotes the problem)"
    assert log.samples[0].scores is not None and log.samples[0].scores["verdict"].answer == "17"


def test_tools_calls_and_their_results_go_both_ways_as_they_were_written() -> None:
    calls = (ToolCall(id="a", name="add", arguments='{"x": 1,  "y": 2}'), ToolCall(id="b", name="add", arguments="{x"))
    tool = ToolInfo(
        name="add", description="adds",
        parameters=ToolParams(properties={"x": JSONSchema(type="integer")}, required=["x"]),
    )  # fmt: skip
    seen = []

    @solver
    def twice() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            first = await get_model().generate(state.messages, tools=[tool], config=GenerateConfig(temperature=0.1))
            seen.extend(first.message.tool_calls or ())
            results = [ChatMessageTool(content=f"result {call.id}", tool_call_id=call.id) for call in seen]
            state.output = await get_model().generate([*state.messages, first.message, *results])
            return state

        return solve

    def script(request: Request) -> Message | str:
        return Message(role="assistant", content="", calls=calls) if len(request.messages) == 1 else "done"

    model = ScriptedChat(script)
    told = played(model, due(1), sums(solver=twice()))
    first, second = model.requests
    assert [tool.name for tool in first.tools] == ["add"] and first.tools[0].parameters["required"] == ["x"]
    assert first.sampling == replace(PRESET.sampling, temperature=0.1), "what a task asks for itself is sent"
    assert seen[0].arguments == {"x": 1, "y": 2} and seen[0].parse_error is None
    assert seen[1].arguments == {} and "no JSON" in str(seen[1].parse_error)
    assert second.messages[1].calls == calls, "as the model wrote them, damaged or not"
    assert [message.call_id for message in second.messages[2:]] == ["a", "b"]
    assert [len(told.completions[name]) for name in told.results] == [2]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finish.STOP, "stop"), (Finish.LENGTH, "max_tokens"), (Finish.CALLS, "tool_calls"),
        (Finish.REFUSED, "content_filter"), (Finish.CONTEXT, "model_length"),
    ],
)  # fmt: skip
def test_an_ending_and_the_usage_are_known_to_inspect(finish: Finish, reason: str, tmp_path: Path) -> None:
    usage = Usage(prompt_tokens=7, completion_tokens=3)
    played(
        ScriptedChat(lambda _: Completion(ids=(), logprobs=(), text="x", finish=finish, usage=usage)), due(1),
        logs=tmp_path,
    )  # fmt: skip
    (sample,) = read(tmp_path).samples or ()
    assert sample.output.stop_reason == reason
    assert sample.output.usage is not None and sample.output.usage.total_tokens == 10


def test_a_simulated_user_has_its_own_model_and_sampling_and_the_samples_seed() -> None:
    @solver
    def conversation() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            said = await get_model(role="user").generate(state.messages)
            state.messages.append(ChatMessageUser(content=said.completion))
            return await generate(state)

        return solve

    user, model = ScriptedChat(lambda _: "hurry up"), ScriptedChat(lambda _: "yes")
    told = played(model, due(2), sums(solver=conversation()), user=user)
    assert {request.seed for request in user.requests} == {100, 101}
    assert {request.sampling for request in user.requests} == {PRESET.user_sampling}
    assert {request.messages[-1].content for request in model.requests} == {"hurry up"}
    assert all([one.text for one in kept] == ["yes"] for kept in told.completions.values()), "its own alone"


def test_the_process_and_the_home_of_its_user_are_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """P178: and two runs in the same second leave two logs. No device is given to inspect: it removes trace files."""
    home, logs = tmp_path / "home", tmp_path / "logs"
    home.mkdir()
    for name, value in {"HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": home}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("INSPECT_TELEMETRY", "no_such_package.send")
    monkeypatch.setenv("INSPECT_EVAL_MAX_RETRIES", "7")
    monkeypatch.chdir(home)
    (home / ".env").write_text("SPADEWORK_TEST_LEAK=1\n")
    before = dict(os.environ), sys.excepthook, logging.getLogger().handlers[:], logging.getLogger().level
    for _ in range(2):
        played(ScriptedChat(lambda _: "x"), due(2), logs=logs)
    assert (dict(os.environ), sys.excepthook, logging.getLogger().handlers, logging.getLogger().level) == before
    assert [path.name for path in home.rglob("*")] == [".env"]
    assert len(list(logs.iterdir())) == 2
    assert Path(os.devnull).is_char_device()


def test_an_interrupt_ends_it_and_what_was_scored_is_kept() -> None:
    slow = [replace(one, seed=100 + 6000) if one.item.id == "item0" else one for one in due(3)]
    told = Told()

    def interrupt() -> None:
        while len(told.results) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without it
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        play(sums(), slow, PRESET, Players(model=Slow()), told)
    assert set(told.results) == {"item1", "item2"}
    assert time.perf_counter() - told.began < 120


def test_a_task_that_asks_for_what_no_engine_takes_is_told_so() -> None:
    @solver
    def penalised() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            return await generate(state, frequency_penalty=0.5)

        return solve

    told = played(ScriptedChat(lambda _: "x"), due(1), sums(solver=penalised()))
    assert "frequency_penalty" in told.results["item0"].detail


def test_arguments_of_the_log_are_json(tmp_path: Path) -> None:
    played(ScriptedChat(lambda _: "x"), due(1), sums(metadata={"preset": "test"}), logs=tmp_path)
    log = read(tmp_path)
    assert log.eval.metadata == {"preset": "test"} and json.loads(log.model_dump_json())
