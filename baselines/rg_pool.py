"""The static pool of easy reasoning-gym tasks for models that read English, made again from the package:

    python -m spadework.baselines.rg_pool --out baselines/pools/rg_easy [--replace]

Its questions are those of the part that training takes (`training.chat.organism.TRAIN`), so no suite holds one of them.
"""

import argparse
from pathlib import Path

from ..tasks.reasoning_gym_programs import programs
from ..training.chat.organism import MIXTURE, TRAIN
from .fixed_pool import write_pool

PER_TASK = 200


def main() -> None:
    """Write the pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool")
    parser.add_argument("--replace", action="store_true", help="remove the pool that is there")
    args = parser.parse_args()
    made = programs(MIXTURE, PER_TASK, TRAIN)
    write_pool(args.out, made, replace=args.replace)
    print(f"{len(made)} programs with {sum(int(one.meta['items']) for one in made)} items in {args.out}")


if __name__ == "__main__":
    main()
