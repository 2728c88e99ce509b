"""lm-eval on our port: `PortLM` is a model to it, `Questions` a task whose questions stand in memory.

    lm_eval.simple_evaluate(PortLM(model), tasks=["gsm8k"])      # its own tasks, on any engine of ours
    evaluated("aime_2025", requests, heard, model)               # ours: no data set, no file, no cache

lm-eval puts the requests, collects the answers, and takes the mean. It tells results when all is over; so `heard` gets
each completion the moment it is there, and what it says is the result that lm-eval processes later. A question's text
reaches lm-eval as the argument of an instance in memory, never as a document: documents are numbers.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.pool import ThreadPool
from threading import Event
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.metrics import mean
from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.config.task import TaskConfig
from lm_eval.evaluator import evaluate
from lm_eval.filters import build_filter_ensemble

from ..errors import InputError
from ..seeds import derive
from ..types import Completion, Message, Model, Request, Sampling

Heard = Callable[[int, Completion], float | None]
"""From a question's number and its completion to its score; None where it has none."""
METRIC = "score"
AT_A_TIME = 128
"""Requests that wait for the model at a time; it answers as many of them together as suits it."""
_CONVERSATION = "\x00conversation:"

logging.getLogger("lm_eval").setLevel(logging.WARNING)


class PortLM(LM):  # type: ignore[misc]
    """A model of ours as an `LM` that generates. It has no log-likelihoods: tasks that compare them are refused."""

    def __init__(
        self, model: Model, seed: int = 0, requests: Mapping[int, Request] | None = None,
        heard: Callable[[int, Completion], None] | None = None,
    ) -> None:  # fmt: skip
        """`requests` answer for the documents {"row": number}; others are made from lm-eval's own arguments."""
        super().__init__()
        self.port, self.seed = model, seed
        self.requests, self.heard = requests or {}, heard

    @property
    def tokenizer_name(self) -> str:
        """For lm-eval's cache of prompts: they are conversations here, whatever the model."""
        return "conversation"

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The conversation itself, to be rendered by the engine."""
        return _CONVERSATION + json.dumps(chat_history)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """The texts, in order; each completion is told as soon as it is there."""
        rows = [_row(instance, number) for number, instance in enumerate(requests)]
        asked = [
            self.requests[row] if row in self.requests else self._request(row, instance)
            for row, instance in zip(rows, requests)
        ]
        texts = [""] * len(asked)

        def answer(number: int) -> None:
            (completion,) = self.port.generate([asked[number]])
            texts[number] = completion.text
            if self.heard is not None:
                self.heard(rows[number], completion)

        at_once(answer, len(asked))
        return texts

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Not on this port."""
        raise InputError("engines here give no log-likelihoods of texts; take a task that generates.")

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """Not on this port."""
        raise InputError("engines here give no log-likelihoods of texts; take a task that generates.")

    def _request(self, number: int, instance: Instance) -> Request:
        """From lm-eval's arguments: a text or a conversation, and its names for what is drawn."""
        context, told = instance.args[0], dict(instance.args[1])
        turns = [{"role": "user", "content": context}]
        if context.startswith(_CONVERSATION):
            turns = json.loads(context.removeprefix(_CONVERSATION))
        until = told.get("until") or []
        drawn = bool(told.get("do_sample", told.get("temperature", 0)))
        sampling = Sampling(
            temperature=float(told.get("temperature", 1.0)) if drawn else 0.0,
            top_p=float(told.get("top_p", 1.0)),
            top_k=int(told.get("top_k", 0)),
            max_new_tokens=int(told.get("max_gen_toks", 256)),
            stop_texts=tuple([until] if isinstance(until, str) else until),
        )
        messages = tuple(Message(role=turn["role"], content=turn["content"]) for turn in turns)
        seed = derive(self.seed, "lm-eval", str(instance.task_name), instance.doc_id or 0, number)
        return Request(messages=messages, sampling=sampling, seed=seed)


def _row(instance: Instance, number: int) -> int:
    """The number of a document of ours; of any other, its place in the list."""
    row = instance.doc.get("row") if isinstance(instance.doc, dict) else None
    return row if isinstance(row, int) else number


class Questions(Task):  # type: ignore[misc]
    """Requests as a task. Repeats are documents of their own: of a document asked twice lm-eval scores one answer."""

    VERSION = 1
    OUTPUT_TYPE = "generate_until"

    def __init__(self, name: str, requests: Sequence[Request], heard: Heard) -> None:
        self.requests, self.listener = requests, heard
        self.scores: dict[int, float | None] = {}
        # What `Task.__init__` sets; as `ConfigurableTask`, this one does not call it: it would load a data set.
        self._config = TaskConfig(task=name, num_fewshot=0, generation_kwargs={"until": []})
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]
        self._instances: list[Instance] | None = None
        self._training_docs = self._fewshot_docs = self.fewshot_rnd = None

    def heard(self, row: int, completion: Completion) -> None:
        """A completion has come: judge it now, and keep the score for `process_results`."""
        self.scores[row] = self.listener(row, completion)

    def build_all_requests(self, **_: Any) -> None:
        """One instance a request, in memory; lm-eval's own way shows a bar, and may read and write a cache."""
        self._instances = [
            Instance(
                request_type="generate_until", doc={"row": row}, arguments=(self.doc_to_text({"row": row}), {}), idx=0,
                metadata=(self.config.task, row, 1),
            )
            for row in range(len(self.requests))
        ]  # fmt: skip

    def process_results(self, doc: dict[str, int], results: list[str]) -> dict[str, float]:
        """The score that was given when the completion came; nothing for a sample without one."""
        score = self.scores[doc["row"]]
        return {} if score is None else {METRIC: score}

    def aggregation(self) -> dict[str, Callable[[list[float]], float]]:
        """The mean."""
        return {METRIC: mean}

    def higher_is_better(self) -> dict[str, bool]:
        """It is."""
        return {METRIC: True}

    def has_training_docs(self) -> bool:
        """No."""
        return False

    has_validation_docs = has_training_docs

    def has_test_docs(self) -> bool:
        """Yes."""
        return True

    def test_docs(self) -> list[dict[str, int]]:
        """Numbers, so that no text is in what lm-eval may keep."""
        return [{"row": row} for row in range(len(self.requests))]

    def doc_to_text(self, doc: dict[str, int]) -> str:
        """What is asked."""
        return "\n".join(message.content for message in self.requests[doc["row"]].messages)

    def doc_to_target(self, doc: dict[str, int]) -> str:
        """None: `heard` knows what is right."""
        return ""

    def construct_requests(self, doc: dict[str, int], ctx: str, **_: Any) -> list[Instance]:
        """Not used: `build_all_requests` makes them."""
        raise NotImplementedError


def evaluated(name: str, requests: Sequence[Request], heard: Heard, model: Model) -> float | None:
    """Ask everything through lm-eval and return the mean that it takes; None when nothing had a score.

    What `heard` or the model raises ends it, and is raised.
    """
    if not requests:
        return None
    task = Questions(name, requests, heard)
    port = PortLM(model, requests=dict(enumerate(requests)), heard=task.heard)
    found = evaluate(port, {"tasks": {name: task}, "groups": {}}, bootstrap_iters=0, log_samples=False)
    value = found["results"][name].get(f"{METRIC},none")
    return None if value is None else float(value)


def at_once(work: Callable[[int], None], count: int) -> None:
    """`work(0)` to `work(count - 1)` in threads; the first exception is raised, and no more is begun.

    The threads of this pool are daemons: an interrupted program does not wait for a model that still draws.
    """
    over = Event()

    def unless_over(number: int) -> None:
        if over.is_set():
            return
        try:
            work(number)
        except BaseException:
            over.set()
            raise

    if count:
        with ThreadPool(min(count, AT_A_TIME)) as pool:
            for _ in pool.imap_unordered(unless_over, range(count)):
                pass
