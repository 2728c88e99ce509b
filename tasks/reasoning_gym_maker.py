"""A process of its own that makes items of Reasoning-Gym: a job a line in, an item a line out, both JSON.

    PYTHONHASHSEED=0 python -P reasoning_gym_maker.py 60 4096 < jobs     # CPU seconds and MiB that one item may take

Items of some tasks depend on the hash seed, so it must be fixed before the interpreter starts. Each item is made by a
child of its own, which the kernel ends when it takes too long: some never end. It is trusted and runs outside the jail,
because generators read files when they are used; it needs the package reasoning-gym and nothing of ours.
"""

import base64
import contextlib
import decimal
import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Mapping
from typing import Any

import reasoning_gym


def made(job: Mapping[str, Any]) -> dict[str, Any]:
    """One item: question, answer (None where the task has none), and the pickled item, which its scorer needs."""
    decimal.getcontext().prec = job["digits"]
    data = reasoning_gym.create_dataset(job["task"], seed=job["seed"], size=job["size"], **job["params"])
    item = data[job["index"]]
    entry = base64.b64encode(pickle.dumps(item)).decode()
    return {"question": item["question"], "answer": item["answer"], "entry": entry}


def in_child(job: Mapping[str, Any], cpu_s: int, memory_mb: int) -> dict[str, Any]:
    """The item, or `error`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
        with contextlib.redirect_stdout(sys.stderr), os.fdopen(writing, "wb") as out:
            out.write(json.dumps(made(job)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == 0 and text:
        item: dict[str, Any] = json.loads(text)
        return item
    ended = os.waitstatus_to_exitcode(status)
    if ended in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"error": f"not made in {cpu_s} s of CPU time"}
    return {"error": f"the generator ended with code {ended}"}


def main() -> None:
    """Until standard input ends."""
    cpu_s, memory_mb = int(sys.argv[1]), int(sys.argv[2])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(in_child(json.loads(line), cpu_s, memory_mb)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
