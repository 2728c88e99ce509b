"""Who is tied with the best: the best is picked by the data, and still nobody is put behind it too often."""

import numpy as np

from spadework.harness.answers import CODES, ItemList
from spadework.harness.comparing.columns import Column, Stamp, Subject
from spadework.harness.comparing.groups import group
from spadework.harness.seeds import derive
from spadework.harness.types import Outcome

ITEMS, SUBJECTS, DRAWS = 60, 6, 100


def subjects(draw: int, chances: list[float]) -> list[Subject]:
    """Subjects with these chances of a right answer, item by item with a difficulty of its own."""
    rng = np.random.default_rng(derive(draw, "groups"))
    hardness = rng.normal(0, 0.15, size=ITEMS)
    listed = ItemList(items=tuple(f"{number:03d}" for number in range(ITEMS)), categories=("all",) * ITEMS)
    found = []
    for number, chance in enumerate(chances):
        right = rng.random(ITEMS) < np.clip(chance + hardness, 0, 1)
        codes = np.where(right, CODES[Outcome.RIGHT], CODES[Outcome.WRONG]).astype(np.uint8)
        column = Column(
            name="c", stamp=Stamp(preset="p", scorer="1", task="t"), listed=listed, golds=("g",) * ITEMS, seeds=(0,),
            outcomes_SIR=codes.reshape(1, ITEMS, 1), rewards_SIR=right.astype(np.float64).reshape(1, ITEMS, 1),
        )  # fmt: skip
        found.append(Subject(label=f"s{number}", runs=(f"s{number}",), kind="evaluation", columns={"c": column}))
    return found


def test_among_equals_somebody_is_put_behind_the_best_in_one_draw_of_twenty_at_most() -> None:
    wrong = 0
    for draw in range(DRAWS):
        found = group(subjects(draw, [0.5] * SUBJECTS), "c", "right", ())
        assert found is not None and set(found.values) == {f"s{number}" for number in range(SUBJECTS)}
        wrong += bool(found.behind)
    assert wrong <= 9, "more than 5 % of 100 draws, by more than two standard errors"


def test_one_that_is_far_worse_is_put_behind() -> None:
    behind = 0
    for draw in range(20):
        found = group(subjects(draw, [0.75, 0.75, 0.2]), "c", "right", ())
        assert found is not None
        behind += found.behind == ("s2",)
    assert behind >= 19
