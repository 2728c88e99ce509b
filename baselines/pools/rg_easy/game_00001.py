"""products of reasoning-gym as an environment of one turn; 37 items."""

ITEMS = [
    ("Solve the following multiplication: 3 * 1. Give only the result as your final answer.", "3"),
    ("Solve the following multiplication: 5 * 0. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 0 * 8. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 0 * 6. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 6 * 9. Give only the result as your final answer.", "54"),
    ("Solve the following multiplication: 4 * 6. Give only the result as your final answer.", "24"),
    ("Solve the following multiplication: 2 * 4. Give only the result as your final answer.", "8"),
    ("Solve the following multiplication: 0 * 7. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 9 * 2. Give only the result as your final answer.", "18"),
    ("Solve the following multiplication: 2 * 5. Give only the result as your final answer.", "10"),
    ("Solve the following multiplication: 8 * 7. Give only the result as your final answer.", "56"),
    ("Solve the following multiplication: 5 * 3. Give only the result as your final answer.", "15"),
    ("Solve the following multiplication: 4 * 2. Give only the result as your final answer.", "8"),
    ("Solve the following multiplication: 5 * 2. Give only the result as your final answer.", "10"),
    ("Solve the following multiplication: 9 * 7. Give only the result as your final answer.", "63"),
    ("Solve the following multiplication: 5 * 7. Give only the result as your final answer.", "35"),
    ("Solve the following multiplication: 8 * 8. Give only the result as your final answer.", "64"),
    ("Solve the following multiplication: 6 * 6. Give only the result as your final answer.", "36"),
    ("Solve the following multiplication: 0 * 5. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 2 * 2. Give only the result as your final answer.", "4"),
    ("Solve the following multiplication: 1 * 6. Give only the result as your final answer.", "6"),
    ("Solve the following multiplication: 1 * 4. Give only the result as your final answer.", "4"),
    ("Solve the following multiplication: 3 * 7. Give only the result as your final answer.", "21"),
    ("Solve the following multiplication: 0 * 2. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 6 * 3. Give only the result as your final answer.", "18"),
    ("Solve the following multiplication: 7 * 7. Give only the result as your final answer.", "49"),
    ("Solve the following multiplication: 1 * 9. Give only the result as your final answer.", "9"),
    ("Solve the following multiplication: 7 * 6. Give only the result as your final answer.", "42"),
    ("Solve the following multiplication: 8 * 4. Give only the result as your final answer.", "32"),
    ("Solve the following multiplication: 6 * 8. Give only the result as your final answer.", "48"),
    ("Solve the following multiplication: 2 * 6. Give only the result as your final answer.", "12"),
    ("Solve the following multiplication: 4 * 4. Give only the result as your final answer.", "16"),
    ("Solve the following multiplication: 2 * 3. Give only the result as your final answer.", "6"),
    ("Solve the following multiplication: 0 * 4. Give only the result as your final answer.", "0"),
    ("Solve the following multiplication: 1 * 2. Give only the result as your final answer.", "2"),
    ("Solve the following multiplication: 4 * 3. Give only the result as your final answer.", "12"),
    ("Solve the following multiplication: 5 * 8. Give only the result as your final answer.", "40"),
]


def plain(text):
    return " ".join(text.lower().split()).rstrip(".")


class ProductsEnv:
    def reset(self, seed=None):
        self.question, self.answer = ITEMS[(seed or 0) % len(ITEMS)]
        return self.question, {}

    def step(self, action):
        right = plain(action) == plain(self.answer)
        return ("Right." if right else "Wrong."), float(right), True, False, {}
