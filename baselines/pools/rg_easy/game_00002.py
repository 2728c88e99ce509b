"""gcd of reasoning-gym as an environment of one turn; 34 items."""

ITEMS = [
    ("Find the Greatest Common Divisor (GCD) of these numbers: 4, 4. Give only the GCD as your final answer.", "4"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 9, 3. Give only the GCD as your final answer.", "3"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 2, 10. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 2, 4. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 8, 2. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 5, 5. Give only the GCD as your final answer.", "5"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 10, 6. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 10, 4. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 12, 9. Give only the GCD as your final answer.", "3"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 7, 7. Give only the GCD as your final answer.", "7"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 10, 12. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 6, 4. Give only the GCD as your final answer.", "2"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 12, 3. Give only the GCD as your final answer.", "3"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 7, 12. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 6, 12. Give only the GCD as your final answer.", "6"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 8, 4. Give only the GCD as your final answer.", "4"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 4, 7. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 7, 8. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 8, 9. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 11, 8. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 7, 6. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 5, 8. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 5, 11. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 4, 12. Give only the GCD as your final answer.", "4"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 9, 7. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 8, 7. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 9, 10. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 8, 3. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 11, 3. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 11, 9. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 7, 11. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 12, 5. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 9, 2. Give only the GCD as your final answer.", "1"),
    ("Find the Greatest Common Divisor (GCD) of these numbers: 11, 7. Give only the GCD as your final answer.", "1"),
]


def plain(text):
    return " ".join(text.lower().split()).rstrip(".")


class GcdEnv:
    def reset(self, seed=None):
        self.question, self.answer = ITEMS[(seed or 0) % len(ITEMS)]
        return self.question, {}

    def step(self, action):
        right = plain(action) == plain(self.answer)
        return ("Right." if right else "Wrong."), float(right), True, False, {}
