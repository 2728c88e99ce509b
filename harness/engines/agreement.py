"""Do two engines draw the same? Greedy completions of one model, token by token, and every first difference explained.

    python -m spadework.harness.engines.agreement MODEL [--python PYTHON] [--tokens 64] [--prompts FILE]
    python -m spadework.harness.engines.agreement MODEL --task reasoning_gym --task acebench_agent --limit 20

MODEL is opened with transformers and with vLLM in float32. What is drawn from are prompts that ship, those of a file,
or what benchmarks ask first of their items. Rounding may part the engines only where the model itself is undecided: at
each first difference the two best log-probs, by transformers' own uncached forward, are to lie closer than `CLOSE`.
Exit code 0 when at least `SHARE` of the completions are equal and every difference is explained, else 1. Items are
named by hash: the text of none is printed.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, NamedTuple, Sequence

from ..errors import ExitCode, SpadeworkError
from ..types import Completion, Finish, Message, Model, Request, Sampling
from .located import locate
from .opening import open_model
from .parts import Parts
from .settings import Options, TransformersSettings
from .weights import load_network

CLOSE = 1e-3
SHARE = 0.95
PROMPTS = (
    "What is the capital of France?", "Name three colours of the rainbow.", "Write one sentence about the sea.",
    "How many days has a week?", "Explain in two sentences why the sky is blue.", "What is 7 plus 5?",
    "Give me a recipe for pancakes in four steps.", "Who was Ada Lovelace?", "List five animals that live in forests.",
    "Translate 'good morning' into Spanish.", "What does a compiler do?", "Write a short poem about rain.",
    "Which planet is the largest in the solar system?", "How do I boil an egg?", "What is a prime number?",
    "Describe a bicycle to somebody who has never seen one.", "Why do leaves fall in autumn?",
    "Write a Python function that adds two numbers.", "What is the difference between a lake and a river?",
    "Suggest a name for a small black cat.", "How far away is the moon?", "What do I pack for a day in the mountains?",
    "Tell me how bread is made.", "What is the past tense of 'to go'?",
)  # fmt: skip
TopGap = Callable[[Request, Sequence[int]], float]
"""From a request and the tokens drawn so far to the difference of the two best log-probs of the next one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two completions of one prompt part."""

    prompt: int
    at: int
    """Position in the completion."""
    first: int | None
    """The token drawn there; None where that completion had ended."""
    second: int | None
    gap: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result over all prompts."""

    compared: int
    tokens: int
    """Tokens of the first engine's completions."""
    differences: tuple[Difference, ...]
    no_room: tuple[int, ...] = ()
    """Prompts that are longer than the context, on both engines; they are not compared."""

    @property
    def equal(self) -> int:
        """Completions that are the same to the last token."""
        return self.compared - len(self.differences)

    @property
    def holds(self) -> bool:
        """Whether enough are equal and every difference lies where the model was undecided."""
        enough = self.compared > 0 and self.equal >= SHARE * self.compared
        return enough and all(one.gap < CLOSE for one in self.differences)


def compare(first: Model, second: Model, requests: Sequence[Request], top_gap: TopGap) -> Agreement:
    """Both engines on the same greedy requests. A completion that failed is an error of this comparison."""
    drawn = [checked(model, requests) for model in (first, second)]
    differences, no_room = [], []
    for at, (request, left, right) in enumerate(zip(requests, *drawn)):
        if left.finish is right.finish is Finish.CONTEXT:
            no_room.append(at)
            continue
        a, b = left.ids, right.ids
        place = parting(a, b)
        if place is not None:
            gap = top_gap(request, a[:place])
            one, other = (ids[place] if place < len(ids) else None for ids in (a, b))
            differences.append(Difference(at, place, one, other, gap))
    tokens = sum(len(one.ids) for one in drawn[0])
    return Agreement(len(requests) - len(no_room), tokens, tuple(differences), tuple(no_room))


def checked(model: Model, requests: Sequence[Request]) -> list[Completion]:
    """The completions, all of them there."""
    answers = model.generate(requests)
    wrong = [one.error for one in answers if one.finish is Finish.FAILED]
    if wrong:
        raise SpadeworkError(f"{len(wrong)} of {len(answers)} requests were not answered, the first because {wrong[0]}")
    return answers


def parting(a: Sequence[int], b: Sequence[int]) -> int | None:
    """The first place where two sequences differ; None when they are the same."""
    for at, (one, other) in enumerate(zip(a, b)):
        if one != other:
            return at
    return None if len(a) == len(b) else min(len(a), len(b))


class Reference:
    """A `TopGap` by uncached forwards of transformers in float32, loaded when the first difference asks for it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._network: Any = None
        self._parts: Parts | None = None

    def __call__(self, request: Request, drawn: Sequence[int]) -> float:
        """See `TopGap`."""
        import torch

        if self._parts is None:
            self._parts = Parts(locate(self._text), TransformersSettings())
            self._network = load_network(self._parts.weights, "float32", "cpu")
        prompt = request.ids or self._parts.template.render(request.messages, request.tools).ids
        with torch.inference_mode():
            logits = self._network(torch.tensor([[*prompt, *drawn]])).logits[0, -1]
            best = logits.log_softmax(-1).topk(2).values
        return float(best[0] - best[1])


def table(agreement: Agreement, asked: Sequence["Named"]) -> str:
    """For people: the count, one for each source, then a line a difference."""
    lines = [
        f"{agreement.equal} of {agreement.compared} greedy completions are equal "
        f"({agreement.tokens:,} tokens; wanted {SHARE:.0%})"
    ]
    left_out = set(agreement.no_room)
    compared = Counter(one.source for at, one in enumerate(asked) if at not in left_out)
    parted = Counter(asked[one.prompt].source for one in agreement.differences)
    lines += [f"  {source}: {count - parted[source]} of {count}" for source, count in compared.items()]
    lines += [f"  {len(left_out)} prompts are longer than the context and not compared"] if left_out else []
    for one in agreement.differences:
        verdict = "undecided" if one.gap < CLOSE else "NOT EXPLAINED"
        lines.append(
            f"  {asked[one.prompt].label}, token {one.at}: {one.first} against {one.second}, "
            f"best two log-probs {one.gap:.2e} apart: {verdict}"
        )
    return "\n".join(lines)


class Named(NamedTuple):
    """A request, and how people are told of it."""

    source: str
    name: str
    request: Request

    @property
    def label(self) -> str:
        """Both, short."""
        return f"{self.source} {self.name[:40]!r}"


def shipped(prompts: Sequence[str]) -> list[Named]:
    """Prompts as requests."""
    return [
        Named("prompt", text, Request(messages=(Message(role="user", content=text),), sampling=Sampling(), seed=at))
        for at, text in enumerate(prompts)
    ]


def greedy(one: Named, tokens: int) -> Named:
    """The same, drawn without chance and no longer than `tokens`."""
    sampling = replace(one.request.sampling, temperature=0.0, top_p=1.0, top_k=0, max_new_tokens=tokens)
    return one._replace(request=replace(one.request, sampling=sampling))


def main(words: Sequence[str] | None = None) -> int:
    """The command of the module."""
    parser = argparse.ArgumentParser(prog="agreement", description="Do transformers and vLLM draw the same?")
    parser.add_argument("model")
    parser.add_argument("--python", default="", help="Python of the environment that holds vLLM")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", type=Path, help="a file with one prompt a line (default: 24 that ship)")
    parser.add_argument("--task", action="append", default=[], help="what this task asks first; repeatable")
    parser.add_argument("--preset", action="append", default=[], metavar="[TASK=]NAME", help="protocol; repeatable")
    parser.add_argument("--data", action="append", default=[], metavar="[TASK=]DIR", help="where the data lie")
    parser.add_argument("--limit", action="append", default=[], metavar="[TASK=]N", help="the first N items of a task")
    parser.add_argument("--memory", type=float, default=0.0, help="of vLLM: GiB of a CPU's cache, share of a GPU")
    parser.add_argument("--eager", action="store_true", help="vLLM without compilation: starts sooner, draws slower")
    arguments = parser.parse_args(words)
    try:
        return int(run(arguments))
    except SpadeworkError as error:
        print(f"agreement: {error}", file=sys.stderr)
        return int(error.exit_code)


def run(arguments: argparse.Namespace) -> ExitCode:
    """Open, compare, print."""
    asked = [greedy(one, arguments.tokens) for one in wanted(arguments)]
    requests = [one.request for one in asked]
    vllm: Options = {
        "dtype": "float32", "python": arguments.python, "memory": arguments.memory, "eager": arguments.eager
    }  # fmt: skip
    with open_model(arguments.model, "vllm", vllm) as served:
        with open_model(arguments.model, "transformers", {"dtype": "float32"}) as local:
            found = compare(local.model, served.model, requests, Reference(arguments.model))
        print(f"{local.identity.engine_version}; {served.identity.engine_version}")
    print(table(found, asked))
    return ExitCode.OK if found.holds else ExitCode.VERDICT_FAIL


def wanted(arguments: argparse.Namespace) -> list[Named]:
    """What is to be drawn from."""
    if arguments.task:
        from ..evaluation.first_asked import asked_first
        from ..evaluation.plan import Wish

        wish = Wish(tasks=arguments.task, presets=arguments.preset, data=arguments.data, limit=arguments.limit)
        return [Named(*one) for one in asked_first(wish)]
    lines = PROMPTS if arguments.prompts is None else arguments.prompts.read_text().splitlines()
    return shipped([line for line in lines if line])


if __name__ == "__main__":
    sys.exit(main())
