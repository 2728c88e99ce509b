"""A generated environment as a `gymnasium.Env`: text in, text out, played in the sandbox, for everybody's own tools.

    from spadework.harness.sandbox.gymnasium_env import GeneratedEnv

    with GeneratedEnv(source, max_turns=25) as env:
        observation, info = env.reset(seed=7)
        observation, reward, terminated, truncated, info = env.step("left")

Or `gymnasium.make("spadework.harness.sandbox.gymnasium_env:spadework/Generated-v0", source=source)`. `truncated` is the
program's own word or the turn cap's; a program that fails raises `EnvironmentFailed`, and the next reset begins with a
new process. Several environments may share one `sandbox=`; without it each starts its own at its first reset. An
`AsyncVectorEnv` needs `shared_memory=False`.

It does not validate (see validation.py) and is not imported by the package: gymnasium costs time that a trainer need
not spend. Like a sandbox it belongs to one thread.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector.utils import create_shared_memory

from ..errors import SpadeworkError
from .host import Sandbox
from .limits import EnvError, ErrorKind, Fault, Isolation, Limits, Step
from .process import EnvProcess

ID = "spadework/Generated-v0"
ENTRY = f"{__name__}:GeneratedEnv"
SEEDS = 1 << 62
"""Instance seeds are drawn below this, and larger ones are brought below it."""
LIFE_SHARE = 0.5
"""A process that has used this share of its life's CPU time is replaced at the next reset."""
CHARACTERS = 0x110000


class EnvironmentFailed(SpadeworkError):
    """The program failed, or the host did (`fault`). The episode is over; `error.message` holds text of the program."""

    def __init__(self, error: EnvError) -> None:
        super().__init__(str(error))
        self.error = error

    @property
    def kind(self) -> ErrorKind:
        """What went wrong."""
        return self.error.kind

    @property
    def fault(self) -> Fault:
        """Whose doing it was."""
        return self.error.fault


class _Unicode(frozenset[str]):
    """Every character, without holding a million of them."""

    def __len__(self) -> int:
        return CHARACTERS

    def __contains__(self, character: object) -> bool:
        return isinstance(character, str) and len(character) == 1 and not "\ud800" <= character <= "\udfff"


class _Characters(tuple[str, ...]):
    """Every character by its code point."""

    def __len__(self) -> int:
        return CHARACTERS

    def __getitem__(self, code: Any) -> Any:
        return chr(code)


class AnyText(spaces.Text):
    """Every text up to a length that UTF-8 can write, the empty one included. Samples are short and printable."""

    SAMPLED = "".join(map(chr, range(32, 127))) + "\n\u00e9\u4e2d\U0001f600"
    SAMPLE_LENGTH = 32

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=self.SAMPLED, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether it is such a text."""
        if not isinstance(x, str) or len(x) > self.max_length:
            return False
        return x.isascii() or not any("\ud800" <= character <= "\udfff" for character in x)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A text by chance. Masks are refused: they would be as long as Unicode."""
        if mask is not None or probability is not None:
            raise ValueError("this space holds every character and takes no mask; use gymnasium.spaces.Text instead")
        length = int(self.np_random.integers(0, min(self.SAMPLE_LENGTH, self.max_length) + 1))
        return "".join(self.SAMPLED[number] for number in self.np_random.integers(0, len(self.SAMPLED), length))

    @property
    def character_set(self) -> frozenset[str]:
        """All of Unicode, so that gymnasium can flatten a text."""
        return _Unicode()

    @property
    def character_list(self) -> tuple[str, ...]:
        """All of Unicode, by code point."""
        return _Characters()

    def character_index(self, char: str) -> np.int32:
        """The code point."""
        return np.int32(ord(char))

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, AnyText) and self.max_length == other.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"


@create_shared_memory.register(AnyText)
def _refuse(space: AnyText, n: int = 1, ctx: Any = None) -> Any:
    """gymnasium 1.4 reads a text from shared memory once, before the first reset, and returns that for ever."""
    raise gymnasium.error.CustomSpaceError("text does not pass through shared memory; give shared_memory=False")


class GeneratedEnv(gymnasium.Env[str, str]):
    """One program, one instance at a time. The seed of `reset` is the instance's; without one it is drawn."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        source: str,
        *,
        max_turns: int = 25,
        isolation: Isolation = "module",
        sandbox: Sandbox | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Nothing is started yet. A sandbox that is given stays open when the environment is closed."""
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"there is no render mode {render_mode!r}; give 'ansi' or None")
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}; give 1 or more")
        self.source, self.max_turns, self.isolation, self.render_mode = source, max_turns, isolation, render_mode
        limits = Limits() if sandbox is None else sandbox.limits
        self.observation_space: spaces.Space[str] = AnyText(limits.obs_chars)
        self.action_space: spaces.Space[str] = AnyText(limits.action_chars)
        kwargs = {"source": source, "max_turns": max_turns, "isolation": isolation, "render_mode": render_mode}
        self.spec = EnvSpec(id=ID, entry_point=ENTRY, kwargs=kwargs)
        self._given = sandbox
        self._own: Sandbox | None = None
        self._process: EnvProcess | None = None
        self._playing = False
        self._turn = 0
        self._shown: list[str] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """A new episode; `options` are ignored. Raises EnvironmentFailed."""
        super().reset(seed=seed)
        instance = int(self.np_random.integers(SEEDS)) if seed is None else int(seed) % SEEDS
        self._playing = False
        step = self._checked(self._fresh().reset([(0, instance)])[0])
        self._playing, self._turn, self._shown = True, 0, [step.observation]
        return step.observation, dict(step.info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """One turn. Raises EnvironmentFailed, and gymnasium's ResetNeeded when no episode is under way."""
        if self._process is None or not self._playing:
            raise gymnasium.error.ResetNeeded("there is no episode, or it is over; call reset()")
        step = self._checked(self._process.step([(0, action)])[0])
        self._turn += 1
        self._shown += [f"> {action}", step.observation]
        truncated = step.truncated or (self._turn >= self.max_turns and not step.terminated)
        self._playing = not (step.terminated or truncated)
        return step.observation, step.reward, step.terminated, truncated, dict(step.info)

    def render(self) -> str | None:
        """The episode so far as text; actions begin with ">". None without a render mode."""
        return "\n".join(self._shown) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the process, and the sandbox that was started for it. Closing twice is fine."""
        if self._process is not None:
            self._process.close()
        if self._own is not None:
            self._own.close()
        self._process = self._own = None
        self._playing = False

    def _fresh(self) -> EnvProcess:
        """The process of the last episode; another one when that failed or has become old."""
        process = self._process
        if process is not None:
            old = process.cpu_s > LIFE_SHARE * process.limits.life_cpu_s
            if process.error is None and not old:
                return process
            process.close()
        if self._given is None and self._own is None:
            self._own = Sandbox()
        sandbox = self._given or self._own
        assert sandbox is not None
        self._process = sandbox.open(self.source, isolation=self.isolation)
        return self._process

    def _checked(self, step: Step) -> Step:
        if step.error is None:
            return step
        # The program never saw an action that is no text: the episode goes on.
        self._playing = self._playing and step.error.kind is ErrorKind.ACTION
        raise EnvironmentFailed(step.error)


if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point=ENTRY)
