"""chain_sum of reasoning-gym as an environment of one turn; 70 items."""

ITEMS = [
    ("State the final answer to the following arithmetic problem: 5 - 8 =", "-3"),
    ("State the final answer to the following arithmetic problem: 8 + 1 =", "9"),
    ("State the final answer to the following arithmetic problem: 9 + 7 =", "16"),
    ("State the final answer to the following arithmetic problem: 7 + 2 =", "9"),
    ("State the final answer to the following arithmetic problem: 3 + 4 =", "7"),
    ("State the final answer to the following arithmetic problem: 0 + 2 =", "2"),
    ("State the final answer to the following arithmetic problem: 2 - 9 =", "-7"),
    ("State the final answer to the following arithmetic problem: 6 - 0 =", "6"),
    ("State the final answer to the following arithmetic problem: 5 + 5 =", "10"),
    ("State the final answer to the following arithmetic problem: 8 - 9 =", "-1"),
    ("State the final answer to the following arithmetic problem: 5 - 7 =", "-2"),
    ("State the final answer to the following arithmetic problem: 2 + 6 =", "8"),
    ("State the final answer to the following arithmetic problem: 1 - 9 =", "-8"),
    ("State the final answer to the following arithmetic problem: 4 + 6 =", "10"),
    ("State the final answer to the following arithmetic problem: 0 + 0 =", "0"),
    ("State the final answer to the following arithmetic problem: 1 + 0 =", "1"),
    ("State the final answer to the following arithmetic problem: 4 + 5 =", "9"),
    ("State the final answer to the following arithmetic problem: 2 - 6 =", "-4"),
    ("State the final answer to the following arithmetic problem: 6 - 5 =", "1"),
    ("State the final answer to the following arithmetic problem: 5 + 6 =", "11"),
    ("State the final answer to the following arithmetic problem: 2 - 2 =", "0"),
    ("State the final answer to the following arithmetic problem: 0 - 6 =", "-6"),
    ("State the final answer to the following arithmetic problem: 5 + 7 =", "12"),
    ("State the final answer to the following arithmetic problem: 7 - 4 =", "3"),
    ("State the final answer to the following arithmetic problem: 7 - 9 =", "-2"),
    ("State the final answer to the following arithmetic problem: 6 - 3 =", "3"),
    ("State the final answer to the following arithmetic problem: 9 - 6 =", "3"),
    ("State the final answer to the following arithmetic problem: 4 + 7 =", "11"),
    ("State the final answer to the following arithmetic problem: 0 + 9 =", "9"),
    ("State the final answer to the following arithmetic problem: 2 + 5 =", "7"),
    ("State the final answer to the following arithmetic problem: 4 + 2 =", "6"),
    ("State the final answer to the following arithmetic problem: 0 + 1 =", "1"),
    ("State the final answer to the following arithmetic problem: 4 - 7 =", "-3"),
    ("State the final answer to the following arithmetic problem: 0 - 8 =", "-8"),
    ("State the final answer to the following arithmetic problem: 6 + 6 =", "12"),
    ("State the final answer to the following arithmetic problem: 4 + 1 =", "5"),
    ("State the final answer to the following arithmetic problem: 2 - 1 =", "1"),
    ("State the final answer to the following arithmetic problem: 0 - 4 =", "-4"),
    ("State the final answer to the following arithmetic problem: 7 + 0 =", "7"),
    ("State the final answer to the following arithmetic problem: 1 + 2 =", "3"),
    ("State the final answer to the following arithmetic problem: 3 - 3 =", "0"),
    ("State the final answer to the following arithmetic problem: 7 + 6 =", "13"),
    ("State the final answer to the following arithmetic problem: 4 - 3 =", "1"),
    ("State the final answer to the following arithmetic problem: 8 + 6 =", "14"),
    ("State the final answer to the following arithmetic problem: 9 + 6 =", "15"),
    ("State the final answer to the following arithmetic problem: 1 + 5 =", "6"),
    ("State the final answer to the following arithmetic problem: 9 - 4 =", "5"),
    ("State the final answer to the following arithmetic problem: 9 - 0 =", "9"),
    ("State the final answer to the following arithmetic problem: 9 - 5 =", "4"),
    ("State the final answer to the following arithmetic problem: 0 - 7 =", "-7"),
    ("State the final answer to the following arithmetic problem: 0 - 9 =", "-9"),
    ("State the final answer to the following arithmetic problem: 6 - 8 =", "-2"),
    ("State the final answer to the following arithmetic problem: 9 - 2 =", "7"),
    ("State the final answer to the following arithmetic problem: 0 - 2 =", "-2"),
    ("State the final answer to the following arithmetic problem: 3 - 9 =", "-6"),
    ("State the final answer to the following arithmetic problem: 0 + 8 =", "8"),
    ("State the final answer to the following arithmetic problem: 4 - 6 =", "-2"),
    ("State the final answer to the following arithmetic problem: 0 + 7 =", "7"),
    ("State the final answer to the following arithmetic problem: 6 + 7 =", "13"),
    ("State the final answer to the following arithmetic problem: 5 - 3 =", "2"),
    ("State the final answer to the following arithmetic problem: 4 - 8 =", "-4"),
    ("State the final answer to the following arithmetic problem: 6 - 1 =", "5"),
    ("State the final answer to the following arithmetic problem: 4 - 2 =", "2"),
    ("State the final answer to the following arithmetic problem: 0 + 5 =", "5"),
    ("State the final answer to the following arithmetic problem: 3 - 4 =", "-1"),
    ("State the final answer to the following arithmetic problem: 6 + 4 =", "10"),
    ("State the final answer to the following arithmetic problem: 9 - 8 =", "1"),
    ("State the final answer to the following arithmetic problem: 5 - 0 =", "5"),
    ("State the final answer to the following arithmetic problem: 1 - 0 =", "1"),
    ("State the final answer to the following arithmetic problem: 5 - 9 =", "-4"),
]


def plain(text):
    return " ".join(text.lower().split()).rstrip(".")


class ChainSumEnv:
    def reset(self, seed=None):
        self.question, self.answer = ITEMS[(seed or 0) % len(ITEMS)]
        return self.question, {}

    def step(self, action):
        right = plain(action) == plain(self.answer)
        return ("Right." if right else "Wrong."), float(right), True, False, {}
