"""The gates a nano checkpoint has to pass before a run on it means anything; `organism.GATES` holds the thresholds.

    hint_gap   mean return with the teacher's hint minus without, known families at levels 2 to 4, temperature 1
    valid      share of sampled programs (at the recipe's designer temperature) that the validator accepts
    copied     share of the nouns in those programs that stand in the passage shown

Measured, never assumed, and on passages that are kept out of training.
"""

import re
from typing import Sequence

from transformers import PreTrainedModel

from ...harness.engine import LocalEngine
from ...harness.episode import play
from ...harness.sandbox import Sandbox, ValidationSettings
from ...harness.seeds import derive, generator, text_id
from ...harness.types import Arm, Episode, Play, Program, Request, Sampling
from ...tasks.nano_world import FAMILIES
from ..corpus import Corpus
from ..proposal import Rejection
from ..validation import validate
from . import teacher
from .dialect import NanoDialect
from .organism import GATES

LEVELS = (2, 3, 4)
PROGRAMS, INSTANCES = 5, 6
WRITTEN = 240
TEMPERATURE = 0.6
MAX_TURNS = 16
WORD = re.compile(r" ([a-z]+|\d+)")


def measure(model: PreTrainedModel, dialect: NanoDialect, corpus: Corpus, seed: int) -> dict[str, object]:
    """All gates of a checkpoint with what they rest on, by family where that says more."""
    engine = LocalEngine(model, pad_id=dialect.pad_id, decode=dialect.decode)
    with Sandbox() as sandbox:
        played = hint_gap(engine, dialect, sandbox, seed)
        written = programs(engine, dialect, corpus, sandbox, seed)
    values = {"hint_gap": played["hint_gap"], "valid": written["valid"], "copied": written["copied"]}
    verdict = {name: bool(isinstance(values[name], float) and values[name] >= least) for name, least in GATES.items()}  # type: ignore[operator]
    return {**played, **written, "passed": verdict}


def hint_gap(engine: LocalEngine, dialect: NanoDialect, sandbox: Sandbox, seed: int) -> dict[str, object]:
    """Mean returns with and without the teacher's hint on the same instances, over all and by family."""
    plays: list[Play] = []
    families: list[str] = []
    sampling = Sampling(temperature=1.0, max_new_tokens=4, stop=dialect.stops("agent"))
    for family in FAMILIES:
        for level in LEVELS:
            for number in range(PROGRAMS):
                rng = generator(seed, "gap", family, level, number)
                drawn = teacher.draw(family, level, rng.sample(dialect.nouns, 9), [], rng)
                program = Program(id=text_id(drawn.source), source=drawn.source, skill=FAMILIES[family].skill,
                                  hint=teacher.hint(drawn), max_turns=MAX_TURNS)  # fmt: skip
                for index in range(INSTANCES):
                    for arm in Arm:
                        families.append(family)
                        plays.append(Play(program=program, seed=derive(seed, family, level, number, index), arm=arm,
                                          sample_seed=rng.getrandbits(60), sampling=sampling))  # fmt: skip
    episodes = play(plays, engine, dialect, sandbox)
    names = ("all", *FAMILIES)
    chosen = {name: [e for f, e in zip(families, episodes) if name in ("all", f)] for name in names}
    hinted = {name: _mean(_returns(chosen[name], Arm.HINT)) for name in names}
    plain = {name: _mean(_returns(chosen[name], Arm.PLAIN)) for name in names}
    return {"hint_gap": round(hinted["all"] - plain["all"], 4), "episodes": len(episodes),
            "with_hint": hinted, "without_hint": plain}  # fmt: skip


def programs(
    engine: LocalEngine, dialect: NanoDialect, corpus: Corpus, sandbox: Sandbox, seed: int
) -> dict[str, object]:
    """Programs written after held-out passages: valid share, copied words, reasons of rejection."""
    skills = [family.skill for family in FAMILIES.values()]
    passages = [corpus.evaluation(seed, index).text for index in range(WRITTEN)]
    sampling = Sampling(temperature=TEMPERATURE, max_new_tokens=220, stop=dialect.stops("designer"))
    requests = [
        Request(
            ids=dialect.designer(skills[i % len(skills)], passage, ()), sampling=sampling, seed=derive(seed, "write", i)
        )
        for i, passage in enumerate(passages)
    ]
    sources = [dialect.decode(completion.ids) for completion in engine.generate(requests)]
    verdicts = validate(sources, sandbox, ValidationSettings(max_turns=MAX_TURNS))
    reasons = [str(v.reason) if isinstance(v, Rejection) else "" for v in verdicts]
    copied = [
        word in dialect.passage_words(passage)
        for source, passage, reason in zip(sources, passages, reasons)
        if not reason
        for word in _own_words(source, dialect)
    ]
    return {
        "valid": round(_mean([not reason for reason in reasons]), 4),
        "copied": round(_mean(copied), 4),
        "written": WRITTEN,
        "rejected": {reason: reasons.count(reason) for reason in sorted(set(reasons)) if reason},
        "distinct": len(set(sources)),
    }


def _own_words(source: str, dialect: NanoDialect) -> Sequence[str]:
    """The nouns a program chose."""
    nouns = frozenset(dialect.nouns)
    return [word for word in WORD.findall(source) if word in nouns]


def _returns(episodes: Sequence[Episode], arm: Arm) -> list[float]:
    return [episode.reward for episode in episodes if episode.play.arm is arm and episode.reward is not None]


def _mean(values: Sequence[float]) -> float:
    """0.0 for nothing: a checkpoint that writes no valid program has copied nothing."""
    return sum(values) / len(values) if values else 0.0
