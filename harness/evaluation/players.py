"""Players who know everything or nothing, for the preflight: gold, no-op, empty, constant, `nan`.

They are told apart from the sample by a request's seed, which every request of a sample carries, and answer in order.
"""

import threading
from collections.abc import Mapping, Sequence

from ..benchmark import Benchmark, Due, Players
from ..errors import InputError
from ..scripted import ScriptedChat
from ..types import Completion, Finish, Message, Request, Usage
from .presets import PlayerName

SIMPLE: tuple[PlayerName, ...] = ("noop", "empty", "constant", "nan")
NOTHING = Message(role="assistant", content="")
DONE = Message(role="assistant", content="I am done.")


def gold_replies(benchmark: Benchmark, due: Sequence[Due]) -> dict[int, list[Message]]:
    """Seed to the replies of a perfect player; without those samples whose solution is not known."""
    found = {one.seed: benchmark.gold_replies(one.item) for one in due}
    return {seed: replies for seed, replies in found.items() if replies}


def simple_replies(benchmark: Benchmark, player: PlayerName, due: Sequence[Due]) -> dict[int, list[Message]]:
    """Seed to the one reply that a player who knows nothing gives every time."""
    said = {
        "noop": DONE,
        "empty": NOTHING,
        "constant": Message(role="assistant", content=benchmark.says(benchmark.constant)),
        "nan": Message(role="assistant", content=benchmark.says("nan")),
    }[player]
    return {one.seed: [said] for one in due}


def cast(
    benchmark: Benchmark, due: Sequence[Due], replies: Mapping[int, Sequence[Message]], *, passive: bool = False
) -> Players:
    """Scripted models for some samples: the player with these replies, and the benchmark's own user and judge; with
    `passive` a user who does nothing by himself."""
    says = benchmark.passive_user_replies if passive else benchmark.user_replies
    users = {one.seed: says(one.item) for one in due}
    judges = {one.seed: benchmark.judge_replies(one.item) for one in due}
    return Players(
        model=ScriptedChat(BySeed(replies)),
        user=ScriptedChat(BySeed(users)) if any(users.values()) else None,
        judge=ScriptedChat(BySeed(judges)) if any(judges.values()) else None,
    )


class BySeed:
    """A script: the n-th request that carries a sample's seed gets its n-th reply, later ones the last again."""

    def __init__(self, replies: Mapping[int, Sequence[Message]]) -> None:
        self._replies = replies
        self._asked: dict[int, int] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Completion:
        """The reply, whole whatever the length limit is."""
        if request.seed not in self._replies:
            raise InputError("a request carries the seed of no sample; give it the seed of its `Due`.")
        with self._lock:
            number = self._asked.get(request.seed, 0)
            self._asked[request.seed] = number + 1
        replies = self._replies[request.seed] or (NOTHING,)
        message = replies[min(number, len(replies) - 1)]
        usage = Usage(prompt_tokens=0, completion_tokens=len(message.content.split()))
        finish = Finish.CALLS if message.calls else Finish.STOP
        return Completion(
            ids=(), logprobs=(), text=message.content, finish=finish, calls=message.calls, usage=usage
        )  # fmt: skip
