"""The models of an evaluation: the one under test, simulated users, judges; counted, capped, and cached where allowed.

A model is opened when the first task needs it and closed with the cast. Every text is one for `engines.opening`, except
`scripted:MODULE:OBJECT`, a `Model` or a function that makes one: for tests, and for a user's own player.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from ..benchmark import Players
from ..dialect import Dialect
from ..engines.settings import ENGINES, Options, engine_settings
from ..errors import InputError, nearest
from ..sandbox import Policy
from ..store import LOGS, MODELS, RunFolder
from ..types import Model, Sampling
from .cache import CachedModel, CompletionCache, identity_digest
from .meter import NO_PRICE, Meter, Metered
from .run import Cell
from .settings import EvaluationSettings

AUTO, SCRIPTED = "auto", "scripted"
NAMES = (AUTO, *ENGINES, SCRIPTED)
MODEL = "model"
"""The role of the model under test."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A model that can be asked, what it is, and how it is closed."""

    model: Model
    identity: Mapping[str, object]
    close: Callable[[], None]
    dialect: Dialect | None = None
    unsent: Callable[[Sampling], tuple[str, ...]] = lambda sampling: ()
    """What of the sampling the engine does not honour."""
    answered_as: Callable[[], list[str]] = list
    """What a server has called the models that answered."""


@dataclass(frozen=True, kw_only=True)
class Backing:
    """What stands between a benchmark and its models."""

    meter: Meter
    cache: CompletionCache | None = None
    sandbox: Policy = Policy()
    options: Options = field(default_factory=dict)
    """Of the engine of the model under test."""
    offline: bool = False
    price: tuple[float, float] = NO_PRICE
    other_price: tuple[float, float] = NO_PRICE
    """Of users and judges."""


@dataclass(kw_only=True)
class Cast:
    """The open models of one run. Use as a context manager."""

    settings: EvaluationSettings
    folder: RunFolder
    backing: Backing
    opened: dict[str, Opened] = field(default_factory=dict)
    _metered: dict[str, Metered] = field(default_factory=dict)
    _cached: list[CachedModel] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self.opened:
            self.opened.popitem()[1].close()

    @property
    def hits(self) -> int:
        """Requests that the cache answered."""
        return sum(one.hits for one in self._cached)

    def open_model(self) -> None:
        """Open the model under test now. Raises InputError when that fails, or when the run was begun with another."""
        model = self._open(MODEL, self.settings.model, self.settings.engine, self.backing.options)
        tasks = self.settings.tasks.items()
        unsent = {name: list(found) for name, task in tasks if (found := model.unsent(task.preset.sampling))}
        self.folder.settle(MODELS, {"unsent": unsent})

    def players(self, cell: Cell) -> Players:
        """The models that a task is played with. Raises InputError when one cannot be opened."""
        preset, closed = cell.settings.preset, cell.settings.closed
        self._open(MODEL, self.settings.model, self.settings.engine, self.backing.options)
        return Players(
            model=self._backed(MODEL, closed),
            user=self._other("user", preset.user, closed),
            judge=self._other("judge", preset.judge, closed),
            dialect=self.opened[MODEL].dialect,
            sandbox=self.backing.sandbox,
            logs=self.folder.path / LOGS / cell.name,
        )

    def _other(self, role: str, text: str, closed: bool) -> Model | None:
        if not text:
            return None
        key = f"{role} {text}"
        engine, _, rest = text.partition(":")
        if engine == SCRIPTED:
            self._open(key, rest, SCRIPTED, {})
        else:
            self._open(key, text, AUTO, {})
        return self._backed(key, closed)

    def _open(self, key: str, text: str, engine: str, options: Options) -> Opened:
        if key not in self.opened:
            self.opened[key] = opened = open_player(text, engine, options, offline=self.backing.offline)
            price = self.backing.price if key == MODEL else self.backing.other_price
            self._metered[key] = Metered(opened.model, self.backing.meter, key, price)
            self.folder.settle(MODELS, {key: {**opened.identity, "name": text}})
        return self.opened[key]

    def _backed(self, key: str, closed: bool) -> Model:
        digest = identity_digest(self.opened[key].identity)
        if self.backing.cache is None or closed or digest is None:
            return self._metered[key]
        self._cached.append(CachedModel(self._metered[key], self.backing.cache, digest))
        return self._cached[-1]


def check_engine(text: str, engine: str, options: Options) -> None:
    """Raises InputError with the nearest name for an engine, or an option of it, that is none; opens nothing."""
    if engine not in NAMES:
        raise InputError(f"unknown engine {engine!r}{nearest(engine, NAMES)}; the engines are {', '.join(NAMES)}.")
    if engine != SCRIPTED:
        engine_settings(("openai" if "://" in text else "transformers") if engine == AUTO else engine, options)


def check_model(text: str, engine: str, *, offline: bool) -> None:
    """Raises InputError when no model lies where the text says; loads none. An address is asked when it is opened."""
    if engine == SCRIPTED:
        _scripted(text)
    elif "://" not in text:
        from ..engines.located import locate

        locate(text, offline=offline)


def open_player(text: str, engine: str, options: Options, *, offline: bool = False) -> Opened:
    """A model of any engine. Raises InputError with the reason why it cannot be opened."""
    if engine == SCRIPTED:
        return _scripted(text)
    from ..engines.opening import open_model

    found = open_model(text, None if engine == AUTO else engine, options, offline=offline)
    return Opened(
        model=found.model, identity=found.identity.record(), close=found.close, dialect=found.dialect,
        unsent=found.unsent, answered_as=found.answered_as,
    )  # fmt: skip


def _scripted(name: str) -> Opened:
    module, _, attribute = name.partition(":")
    try:
        loaded = importlib.import_module(module)
    except (ModuleNotFoundError, ValueError) as error:
        raise InputError(f"no scripted model {name!r} ({error}); give MODULE:OBJECT.") from None
    made = getattr(loaded, attribute, None)
    if made is None:
        raise InputError(f"{module} has no {attribute!r}; give MODULE:OBJECT of a model or of what makes one.")
    model: Model = made if hasattr(made, "generate") and not isinstance(made, type) else made()
    source = Path(loaded.__file__).read_bytes() if loaded.__file__ else b""
    identity = {"engine": SCRIPTED, "weights": sha256(source).hexdigest(), "template": ""}
    return Opened(model=model, identity=identity, close=lambda: None)
