"""The corpus a recipe names, opened and filtered."""

from pathlib import Path

from ..harness.dialect import Dialect
from ..harness.errors import InputError
from .corpus import Corpus, Cutting, Need, builtin
from .corpus_files import HubData, from_hub, from_jsonl
from .recipe import CorpusSettings


def open_corpus(settings: CorpusSettings, dialect: Dialect) -> Corpus:
    """Passages that hold what the recipe needs, counted by the dialect. InputError when too few are left."""
    need = Need(count=dialect.usable_words, words=settings.need_words, numbers=settings.need_numbers)
    if settings.kind == "builtin":
        return builtin(words=settings.words, need=need, at_least=settings.at_least)
    if not settings.path:
        raise InputError(f"corpus.kind is {settings.kind!r} without a path; set corpus.path.")
    cutting = Cutting(words=settings.words, at_least=settings.at_least)
    if settings.kind == "hub" and not settings.revision:
        raise InputError(
            f"the Hub data set {settings.path} could change under the run; set corpus.revision to a commit."
        )
    if settings.kind == "jsonl":
        return from_jsonl(Path(settings.path), cutting, need, skip_bad=settings.skip_bad)
    return from_hub(HubData(name=settings.path, revision=settings.revision), cutting, need, skip_bad=settings.skip_bad)
