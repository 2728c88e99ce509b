"""The adapter to lm-eval: what reaches our port, when results are told, and that nothing is written."""

import threading
import time
from collections.abc import Sequence

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

from lm_eval.evaluator import evaluate

from spadework.harness.adapters.lm_eval import AT_A_TIME, PortLM, Questions, evaluated
from spadework.harness.errors import InputError
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Message, Request, Sampling

SAMPLING = Sampling(temperature=0.7, top_p=0.8, top_k=20, max_new_tokens=9)


def question(number: int) -> Request:
    return Request(messages=(Message(role="user", content=f"What is {number}?"),), sampling=SAMPLING, seed=number)


def test_requests_arrive_as_they_were_made_and_lm_eval_takes_the_mean_of_what_was_judged() -> None:
    model = ScriptedChat(lambda request: f"It is {request.seed}.")
    asked = [question(number) for number in range(10)]
    heard: dict[int, str] = {}

    def judge(row: int, completion: Completion) -> float | None:
        heard[row] = completion.text
        return None if row == 9 else float(row % 3 == 0)

    assert evaluated("numbers", asked, judge, model) == pytest.approx(3 / 9), "the unscored one is in no mean"
    assert heard == {number: f"It is {number}." for number in range(10)}
    assert sorted(request.seed for request in model.requests) == list(range(10))
    assert set(model.requests) == set(asked)


def test_a_repeat_is_a_document_of_its_own_and_is_scored() -> None:
    """lm-eval alone scores one answer of a document that is asked several times."""
    asked = [question(number % 2) for number in range(6)]
    assert evaluated("twice", asked, lambda row, _: float(row > 2), ScriptedChat(lambda _: "x")) == 0.5


class Slow:
    """Answers after so many milliseconds as the seed says."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        time.sleep(0.001 * max(request.seed for request in requests))
        return ScriptedChat(lambda request: str(request.seed)).generate(requests)

    def forget(self) -> None:
        """Nothing is kept."""


def test_each_result_is_told_when_it_comes_and_not_when_all_have_come() -> None:
    told: list[int] = []
    began = time.perf_counter()
    late: list[float] = []

    def judge(row: int, _: Completion) -> float:
        told.append(row)
        late.append(time.perf_counter() - began)
        return 1.0

    evaluated("slow", [question(number) for number in (900, 1, 300)], judge, Slow())
    assert told == [1, 2, 0]
    assert late[0] < 0.3 < late[2]


def test_what_the_listener_raises_ends_the_evaluation_and_no_more_is_asked() -> None:
    model = ScriptedChat(lambda _: "x")

    def judge(row: int, _: Completion) -> float:
        raise InputError("the disk is full; free some room.")

    with pytest.raises(InputError, match="the disk is full"):
        evaluated("broken", [question(number) for number in range(50 * AT_A_TIME)], judge, model)
    assert len(model.requests) < 50 * AT_A_TIME


def test_the_documents_that_lm_eval_holds_are_numbers() -> None:
    task = Questions("numbers", [question(7)], lambda row, _: 1.0)
    port = PortLM(ScriptedChat(lambda _: "x"), requests={0: question(7)}, heard=task.heard)
    found = evaluate(port, {"tasks": {"numbers": task}, "groups": {}}, bootstrap_iters=0, log_samples=True)
    kept = {key: value for key, value in found["samples"]["numbers"][0].items() if key != "arguments"}
    assert "What is" not in str(kept)
    found.pop("samples")
    assert "What is" not in str(found)


def test_lm_evals_own_tasks_reach_the_port_with_their_own_arguments() -> None:
    model = ScriptedChat(lambda _: "72 Question: more")
    port = PortLM(model, seed=3)
    task = Questions("any", [question(1)], lambda row, _: 1.0)
    task.build_all_requests()
    (instance,) = task.instances
    instance.doc = {"problem": "a document of lm-eval's"}
    history = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6 times 12?"}]
    told = {"until": "Question:", "max_gen_toks": 5, "temperature": 0.5, "do_sample": True, "top_p": 0.9}
    instance.arguments = (port.apply_chat_template(history), told)
    assert port.generate_until([instance]) == ["72 "]
    (request,) = model.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.sampling == Sampling(temperature=0.5, top_p=0.9, max_new_tokens=5, stop_texts=("Question:",))
    instance.arguments = ("6 times 12?", {"until": [], "do_sample": False, "temperature": 0.5})
    port.generate_until([instance])
    assert model.requests[1].sampling.temperature == 0.0 and len(model.requests[1].messages) == 1


@pytest.mark.parametrize("name", ["loglikelihood", "loglikelihood_rolling"])
def test_tasks_that_compare_likelihoods_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="take a task that generates"):
        getattr(PortLM(ScriptedChat(lambda _: "x")), name)([])


def test_threads_are_daemons_so_that_an_interrupt_does_not_wait_for_a_model() -> None:
    kinds: set[bool] = set()

    def script(_: Request) -> str:
        kinds.add(threading.current_thread().daemon)
        return "x"

    evaluated("threads", [question(1)], lambda row, _: 1.0, ScriptedChat(script))
    assert kinds == {True}
