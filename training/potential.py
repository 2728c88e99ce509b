"""Two running averages of a skill's win rate and the gap between them: the learning-potential tracker, as a value."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningPotential:
    """mu <- (1 - gamma) mu + gamma r with two step sizes; the first update sets both averages to r."""

    gamma_fast: float = 0.98
    gamma_slow: float = 0.85
    mu_fast: float | None = None
    mu_slow: float | None = None

    def __post_init__(self) -> None:
        assert 0 < self.gamma_slow < self.gamma_fast <= 1, "the fast average must move faster than the slow one"

    def update(self, win_rate: float) -> "LearningPotential":
        """The tracker after one more window."""
        if self.mu_fast is None or self.mu_slow is None:
            return replace(self, mu_fast=float(win_rate), mu_slow=float(win_rate))
        return replace(
            self,
            mu_fast=(1 - self.gamma_fast) * self.mu_fast + self.gamma_fast * win_rate,
            mu_slow=(1 - self.gamma_slow) * self.mu_slow + self.gamma_slow * win_rate,
        )

    @property
    def signed(self) -> float | None:
        """(mu_fast - mu_slow) / (2 (gamma_fast - gamma_slow)); None before the first update."""
        if self.mu_fast is None or self.mu_slow is None:
            return None
        return (self.mu_fast - self.mu_slow) / (2 * (self.gamma_fast - self.gamma_slow))

    @property
    def potential(self) -> float | None:
        """The size of `signed`."""
        return None if self.signed is None else abs(self.signed)
