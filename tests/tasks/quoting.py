"""Models that quote what they are asked wherever they can, as the worst case for closed benchmarks."""

import time

from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Request


def answer(request: Request) -> Completion:
    """The problem in the thinking, in the box, on the answer line, or in the error message."""
    asked = request.messages[-1].content
    kind = request.seed % 5
    if kind == 4:
        return Completion(ids=(), logprobs=(), text=asked, finish=Finish.FAILED, error=f"cannot answer {asked}")
    text = [
        f"<think>{asked}</think>\\boxed{{{asked}}}",
        f"{asked}\nAnswer: {asked}",
        f"The answer is {asked}",
        f"\\boxed{{7}} {asked}",
    ][kind]
    return Completion(ids=(), logprobs=(), text=text, finish=Finish.LENGTH if kind == 1 else Finish.STOP)


def broken(request: Request) -> Completion:
    """An engine that breaks with the prompt in its exception."""
    raise RuntimeError(f"out of memory while answering {request.messages[-1].content}")


QUOTING = ScriptedChat(answer)
BROKEN = ScriptedChat(broken)


def slow(request: Request) -> str:
    """Right or wrong by the seed, after up to two seconds."""
    time.sleep(request.seed % 2000 / 1000)
    return f"\\boxed{{{request.seed % 3}}}"


SLOW = ScriptedChat(slow)
