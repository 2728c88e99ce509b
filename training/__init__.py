"""How a model learns: the self-play loop and its parts. May import `tasks` and `harness`."""
