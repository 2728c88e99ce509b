"""Putting the layers on: first the fork server on itself, then each worker on itself, each layer tried out at once.

Runs in the jailed interpreter. `states` collects what became of every layer; whether that is enough is
decided by the host, by its policy.
"""

import os
import resource
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Callable, NamedTuple

from . import landlock, namespaces, probes, seccomp
from .kernel import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_capabilities,
    prctl,
)  # fmt: skip
from .layers import Layer, LayerState, Policy

NOBODY = 65534


class Bounds(NamedTuple):
    """The kernel's limits on one worker."""

    memory_mb: int
    life_cpu_s: int
    threads: int = 0
    """Processes and threads of the worker's user, all workers together (the kernel does not hold root to it)."""


@dataclass(slots=True)
class Jail:
    """What one fork server has put on, and what became of it."""

    policy: Policy
    states: dict[Layer, LayerState] = field(default_factory=dict)

    def wants(self, layer: Layer) -> bool:
        """Whether the policy leaves this layer on."""
        return layer not in self.policy.off

    def put_on(self, layer: Layer, action: Callable[[], str]) -> None:
        """Put one layer on; `action` tries it out, and returns what is to be known about it or raises OSError."""
        if not self.wants(layer):
            self.states[layer] = LayerState(state="off", detail="switched off")
            return
        try:
            self.states[layer] = LayerState(state="held", detail=action())
        except OSError as error:
            self.states[layer] = LayerState(state="missing", detail=error.strerror or str(error))

    def record(self, findings: dict[str, str]) -> None:
        """What the probes of a worker found: a layer's name to the reason why it does not hold, empty when it does."""
        for name, reason in findings.items():
            layer = Layer(name)
            if not self.wants(layer):
                self.states[layer] = LayerState(state="off", detail="switched off")
            elif reason:
                known = self.states.get(layer, LayerState(state="held"))
                detail = known.detail if known.state == "missing" and known.detail else reason
                self.states[layer] = LayerState(state="missing", detail=detail)
            else:
                self.states.setdefault(layer, LayerState(state="held"))


def confine_server(jail: Jail) -> None:
    """Everything the server loses before the first fork of a worker. Afterwards it may be another process (its
    child), the first of a process namespace; the parent waits and ends with it.
    """
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # when the machine runs out of memory, our processes go first
    user = os.getuid()  # a user namespace that could be entered and not be set up hides it
    jail.put_on(Layer.NAMESPACES, _namespaces)
    jail.put_on(Layer.UID, lambda: _drop_user(user))
    if jail.wants(Layer.NAMESPACES):
        _become_first_process(jail)
    if jail.wants(Layer.NO_NEW_PRIVS):
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    jail.put_on(Layer.LANDLOCK, _landlock)


def shut_server(jail: Jail, rules: tuple[seccomp.Rule, ...]) -> None:
    """The server's own list of system calls. Its workers inherit it and add their `rules`, so it must hold them."""
    more = tuple(rule for rule in rules if rule not in seccomp.WORKER)
    jail.put_on(Layer.SECCOMP, lambda: _filter((*seccomp.SERVER, *more)))


def confine_worker(jail: Jail, requests: int, answers: int, bounds: Bounds) -> None:
    """Everything a worker loses before it sees a program, but for its own list of system calls (`shut_worker`)."""
    os.setpgid(0, 0)
    # The pipe ends may already sit on 3 or 4: lift both out of the way first.
    high = [os.dup2(descriptor, target) for descriptor, target in ((requests, 60), (answers, 61))]
    os.dup2(high[0], seccomp.REQUESTS)
    os.dup2(high[1], seccomp.ANSWERS)
    if jail.wants(Layer.CLOSED_FDS):
        os.closerange(0, seccomp.REQUESTS)
        os.closerange(seccomp.ANSWERS + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    if jail.wants(Layer.RLIMITS):
        for limit, soft, hard in rlimits(bounds):
            resource.setrlimit(limit, (soft, hard))
    prctl(PR_SET_DUMPABLE, 0)


def rlimits(bounds: Bounds) -> list[tuple[int, int, int]]:
    """(resource, soft limit, hard limit) of a worker."""
    memory, cpu = _at_most(resource.RLIMIT_AS, bounds.memory_mb << 20), bounds.life_cpu_s
    threads = _at_most(resource.RLIMIT_NPROC, bounds.threads)
    nothing = [resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE]
    return [
        (resource.RLIMIT_AS, memory, memory), (resource.RLIMIT_CPU, cpu, cpu + 1), (resource.RLIMIT_NOFILE, 5, 5),
        (resource.RLIMIT_NPROC, threads, threads), *((limit, 0, 0) for limit in nothing),
    ]  # fmt: skip


def _at_most(limit: int, wanted: int) -> int:
    """A limit can be lowered only."""
    hard = resource.getrlimit(limit)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def shut_worker(jail: Jail, rules: tuple[seccomp.Rule, ...]) -> None:
    """A worker's own list of system calls, the last thing before the program. Raises OSError."""
    if jail.states[Layer.SECCOMP].state == "held":
        seccomp.install(rules)


def follow(parent: int) -> None:
    """Die with the parent, which may have died just now. A change of user clears this: it comes after."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() not in (parent, 0):
        os._exit(1)


def _namespaces() -> str:
    how = namespaces.enter()
    probes.require_empty_root()
    return how


def _drop_user(user: int) -> str:
    """Root becomes nobody: the kernel does not hold root to a number of processes. Capabilities go in either case."""
    if user == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        finally:
            drop_capabilities()
        probes.require_no_way_back()
        return f"as user {NOBODY}"
    drop_capabilities()
    return f"as user {user}, like the host"


def _become_first_process(jail: Jail) -> None:
    """Fork into the process namespace; the parent is left with nothing to do but to wait."""
    parent = os.getpid()
    child = os.fork()
    if child:
        os.closerange(0, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    follow(parent)
    if os.getpid() != 1 and jail.states[Layer.NAMESPACES].state == "held":
        jail.states[Layer.NAMESPACES] = LayerState(state="missing", detail="no process numbers of its own")


def _landlock() -> str:
    before = probes.opens_root()
    abi = landlock.restrict()
    if not before or probes.opens_root():
        raise OSError(0, "the root folder can be opened all the same" if before else "could not be tried out")
    return f"ABI {abi}"


def _filter(rules: tuple[seccomp.Rule, ...]) -> str:
    seccomp.install(rules)
    return ""
