"""count_bits of reasoning-gym as an environment of one turn; 10 items."""

ITEMS = [
    ("How many 1 bits are there in the binary representation of the number 25?", "3"),
    ("How many 1 bits are there in the binary representation of the number 28?", "3"),
    ("How many 1 bits are there in the binary representation of the number 14?", "3"),
    ("How many 1 bits are there in the binary representation of the number 15?", "4"),
    ("How many 1 bits are there in the binary representation of the number 31?", "5"),
    ("How many 1 bits are there in the binary representation of the number 7?", "3"),
    ("How many 1 bits are there in the binary representation of the number 24?", "2"),
    ("How many 1 bits are there in the binary representation of the number 2?", "1"),
    ("How many 1 bits are there in the binary representation of the number 11?", "3"),
    ("How many 1 bits are there in the binary representation of the number 13?", "3"),
]


def plain(text):
    return " ".join(text.lower().split()).rstrip(".")


class CountBitsEnv:
    def reset(self, seed=None):
        self.question, self.answer = ITEMS[(seed or 0) % len(ITEMS)]
        return self.question, {}

    def step(self, action):
        right = plain(action) == plain(self.answer)
        return ("Right." if right else "Wrong."), float(right), True, False, {}
