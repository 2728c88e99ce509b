"""A run as data: every setting of the loop, its sources and its evaluation, with the paper's values as defaults.

A recipe file may say `base = "nano"`: it is then a difference laid over the recipe of that name in
`training/recipes/` (or over a file next to it). Unknown keys are refused with the nearest name. This module reads no
model and starts nothing.
"""

from pathlib import Path
from typing import Literal, Sequence

from ..harness.config import Section, Table, build, merge, override, read_table
from ..harness.errors import InputError, nearest
from .advantages import AdvantageSettings, check_groups
from .designer import DesignerSettings, check_sampling
from .health import HealthSettings
from .rewards import RewardSettings, resolve_reward
from .update_settings import UpdateSettings

RECIPES = Path(__file__).parent / "recipes"
SOURCES = {
    "none": "",
    "self_play": "spadework.training.sources:self_play",
    "frozen": "spadework.baselines.sources:frozen",
    "fixed_pool": "spadework.baselines.sources:fixed_pool",
    "rlve": "spadework.baselines.sources:rlve",
}
"""Where the environments of a row come from: name -> `module:function` that makes the source. `none` trains nothing."""


class SourceSettings(Section, frozen=True, kw_only=True):
    """Which source stands behind a step, and what only that source needs."""

    kind: Literal["none", "self_play", "frozen", "fixed_pool", "rlve"] = "self_play"
    reward: str = "blend"
    """How the designer is paid: a name of `training.rewards.REWARDS` or `module:function`."""
    writer: str = "base"
    """frozen: the checkpoint that writes the environments and is never trained."""
    pool: str = "nano"
    """fixed_pool: a folder, or the name of a pool that ships in `baselines/pools/`."""
    attempts_per_check: int = 128
    """rlve: plays at the highest level before it is checked (tau_num)."""
    top_level: int = 20
    """rlve: the highest level."""


class PlaySection(Section, frozen=True, kw_only=True):
    """The agent's plays in one step."""

    instances: int = 8
    """Instance seeds an environment and step."""
    plays_per_instance: int = 1
    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_new_tokens: int = 8192
    """Tokens of one turn."""
    max_tokens: int = 32_768
    """Tokens of a whole episode."""

    def __post_init__(self) -> None:
        check_sampling("play", self.temperature, self.top_p, self.top_k)
        if min(self.instances, self.plays_per_instance, self.max_new_tokens, self.max_tokens) < 1:
            raise InputError("play: set instances, plays_per_instance, max_new_tokens and max_tokens to 1 or more.")


class CorpusSettings(Section, frozen=True, kw_only=True):
    """Where passages come from."""

    kind: Literal["builtin", "jsonl", "hub"] = "builtin"
    path: str = ""
    """jsonl: the file. hub: the dataset's id."""
    revision: str = ""
    """hub: the commit of the data set."""
    words: tuple[int, int] = (24, 32)
    """Least and most words of a passage."""
    need_words: int = 0
    """Usable content words a passage must have."""
    need_numbers: int = 0
    at_least: int = 1
    """Fewer passages than this are an error."""
    skip_bad: bool = False
    """jsonl, hub: bad lines and records are skipped and counted instead of refused."""


class EvaluationSettings(Section, frozen=True, kw_only=True):
    """What a run is measured on."""

    validate_every: int = 20
    """Steps between two looks at the validation suite, which chooses the checkpoint."""
    validation_share: float = 1.0
    share: float = 1.0
    """Part of every cell of the test suite that is played; 1.0 is the full suite."""
    max_new_tokens: int = 4
    diversity_programs: int = 64
    """Programs (evenly over the run) the Vendi score is computed on."""

    def __post_init__(self) -> None:
        if self.validate_every < 1 or self.max_new_tokens < 1:
            raise InputError("evaluation: set validate_every and max_new_tokens to 1 or more.")
        if not (0 < self.share <= 1 and 0 < self.validation_share <= 1):
            raise InputError("evaluation: set share and validation_share above 0 and to at most 1.")
        if self.diversity_programs < 2:
            raise InputError("evaluation: set diversity_programs to 2 or more.")


class Recipe(Section, frozen=True, kw_only=True):
    """One run."""

    row: str
    scale: str = "nano"
    organism: str = "nano"
    checkpoint: str = "base"
    require_gates: bool = False
    """Refuse a checkpoint whose measured gates are missing or not passed (the organism says which there are)."""
    seed: int = 0
    steps: int = 400
    window: int = 4
    """Steps that one window of environments is played (k)."""
    stop_after_empty: int = 3
    """Windows in a row without a valid program after which the run stops."""
    source: SourceSettings = SourceSettings()
    designer: DesignerSettings = DesignerSettings()
    play: PlaySection = PlaySection()
    reward: RewardSettings = RewardSettings()
    advantages: AdvantageSettings = AdvantageSettings()
    update: UpdateSettings = UpdateSettings()
    corpus: CorpusSettings = CorpusSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    health: HealthSettings = HealthSettings()

    def __post_init__(self) -> None:
        if self.steps < 1 or self.window < 1:
            raise InputError("recipe: set steps and window to 1 or more.")
        if self.stop_after_empty < 1:
            raise InputError("recipe: set stop_after_empty to 1 or more.")


def load_recipe(name: str, overrides: Sequence[str] = (), seed: int | None = None) -> Recipe:
    """The recipe of a file, or of a name that ships, with `--set` texts on top. What the recipe alone shows to be
    wrong is refused; files that it names are opened by the run.
    """
    table = override(_table(_path(name)), overrides)
    if seed is not None:
        table["seed"] = seed
    recipe = build(Recipe, table, where=name)
    check(recipe)
    return recipe


def check(recipe: Recipe) -> None:
    """Refuse what could only fail later: reward names, groups without anything to compare, an unknown source."""
    resolve_reward(recipe.source.reward)
    if recipe.source.kind != "none":
        per_skill = recipe.designer.environments // max(1, _active(recipe.designer))
        designs = recipe.source.kind == "self_play"
        trained = {"play": recipe.play.temperature} | ({"designer": recipe.designer.temperature} if designs else {})
        for section, temperature in trained.items():
            if temperature == 0:
                raise InputError(f"greedy samples cannot be trained on; set {section}.temperature above 0.")
        check_groups(
            recipe.advantages, instances=recipe.play.instances, plays_per_instance=recipe.play.plays_per_instance,
            programs_per_skill=per_skill if designs else None,
        )  # fmt: skip


def _active(designer: DesignerSettings) -> int:
    total = len(designer.skills)
    return designer.skills_per_window if 0 < designer.skills_per_window < total else total


def _path(name: str) -> Path:
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    shipped = RECIPES / f"{name}.toml"
    if not shipped.is_file():
        known = [path.stem for path in RECIPES.glob("*.toml")]
        raise InputError(
            f"no recipe {name!r}{nearest(name, known)}; give one of {', '.join(sorted(known))} or a TOML file."
        )
    return shipped


def _table(path: Path, depth: int = 0) -> Table:
    """The table of a file with its bases under it."""
    table = read_table(path)
    base = table.pop("base", None)
    if base is None:
        return table
    if depth > 8 or not isinstance(base, str):
        raise InputError(f"{path}: base is {base!r}; name one recipe, without a circle.")
    beside = path.with_name(f"{base}.toml")
    return merge(_table(beside if beside.is_file() else _path(base), depth + 1), table)
