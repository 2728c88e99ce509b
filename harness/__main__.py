"""`python -m spadework.harness` is the command `spadework`."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
