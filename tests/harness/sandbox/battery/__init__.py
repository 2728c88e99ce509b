"""A battery of hostile programs against the sandbox, and the arena in which they are let loose."""
