"""Environment programs of our own that `bench sandbox` plays: a light one, a heavy one, and one of the usual size.

Text, as a model would write it; the benchmark executes it in process as well, which is safe because it is ours.
"""

LIGHT = """
import random

class OrderEnv:
    def reset(self, seed=None):
        self.words = ["fox", "hen", "oak", "elm", "bee", "cow", "rye", "ash"]
        random.Random(seed).shuffle(self.words)
        self.turn, self.done = 0, 0
        return "order " + " ".join(self.words), {}

    def step(self, action):
        self.turn += 1
        self.done += action.strip() == sorted(self.words)[self.done % 8]
        return f"{self.done} of 8, last {action}", self.done / 8, False, self.turn >= 12, {}
"""
HEAVY = LIGHT.replace(
    "        self.turn += 1\n",
    '        self.turn += 1\n        row = lambda y: "".join(".#"[(x * y + self.turn) % 7 == 0] for x in range(17))\n'
    "        board = [row(y) for y in range(17)]\n",
).replace(", last {action}", ", last {action}\\n{chr(10).join(board)}")

HARBOUR = '''"""Harbour: buy where goods are cheap, sell where they are dear, and come home rich before the last day."""

import random
import re
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Optional

PORTS = ("Arran", "Brae", "Coll", "Dunan", "Eigg", "Fara", "Gigha")
GOODS = {"fish": 12, "salt": 7, "wool": 25, "oak": 40, "rum": 33}
HOLD = 14
LAST_DAY = 24
COMMAND = re.compile(r"^(buy|sell|sail|look|wait)(?:\\s+([a-z]+))?(?:\\s+(\\d{1,3}))?$")


class Weather(Enum):
    CALM = ("calm", 0)
    FAIR = ("fair", 1)
    ROUGH = ("rough", 2)

    @property
    def word(self):
        return self.value[0]

    @property
    def delay(self):
        return self.value[1]


@dataclass
class Market:
    """What one port sells, and for how much."""

    prices: dict = field(default_factory=dict)
    stock: dict = field(default_factory=dict)

    def drift(self, rng):
        for good, usual in GOODS.items():
            shift = rng.randint(-2, 2)
            wanted = self.prices[good] + shift
            self.prices[good] = max(usual // 3, min(usual * 3, wanted))
            self.stock[good] = min(20, self.stock[good] + 1)

    def quote(self, good):
        return f"{good} {self.prices[good]} ({self.stock[good]})"


@dataclass
class Ship:
    """The player's ship."""

    place: str
    coins: int
    hold: dict = field(default_factory=dict)

    @property
    def load(self):
        return sum(self.hold.values())

    def stow(self, good, count):
        self.hold[good] = self.hold.get(good, 0) + count

    def unload(self, good, count):
        left = self.hold[good] - count
        if left:
            self.hold[good] = left
        else:
            del self.hold[good]


class Chart:
    """Which ports are joined, and how many days lie between them."""

    def __init__(self, rng):
        self.lanes = {port: {} for port in PORTS}
        for one, other in zip(PORTS, PORTS[1:]):
            self.join(one, other, rng.randint(1, 3))
        for _ in range(4):
            one, other = rng.sample(PORTS, 2)
            if other not in self.lanes[one]:
                self.join(one, other, rng.randint(1, 4))

    def join(self, one, other, days):
        self.lanes[one][other] = days
        self.lanes[other][one] = days

    def hops(self, start, goal):
        """The fewest lanes between two ports."""
        queue, seen = deque([(start, 0)]), {start}
        while queue:
            port, count = queue.popleft()
            if port == goal:
                return count
            for other in sorted(self.lanes[port]):
                if other not in seen:
                    seen.add(other)
                    queue.append((other, count + 1))
        return -1

    def named(self, word) -> Optional[str]:
        for port in PORTS:
            if port.lower() == word:
                return port
        return None


class HarbourEnv:
    """Terminates with 1.0 at home with the coins wanted; truncates after the last day or the turn cap."""

    def __init__(self, max_turns=20):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.chart = Chart(self.rng)
        self.markets = {port: self._market() for port in PORTS}
        self.home = self.rng.choice(PORTS)
        self.ship = Ship(self.home, 60 + self.rng.randint(0, 30))
        self.wanted = self.ship.coins + 35
        self.day, self.turn = 1, 0
        self.weather = Weather.CALM
        self.log = deque(maxlen=2)
        return self._view("You wake in the harbour."), {}

    def step(self, action):
        self.turn += 1
        match = COMMAND.match(action.strip().lower())
        before = self.ship.coins
        if match is None:
            said = "Say: buy GOOD N, sell GOOD N, sail PORT, look or wait."
        else:
            said = getattr(self, "_" + match[1])(match[2], int(match[3] or 1))
        won = self.ship.place == self.home and self.ship.coins >= self.wanted
        over = self.turn >= self.max_turns or self.day >= LAST_DAY
        if won:
            reward = 1.0
        else:
            reward = max(-0.1, min(0.1, (self.ship.coins - before) / 1000))
        view = self._view(said)
        self.log.append(f"{self.turn}. {said}")
        return view, reward, won, over and not won, {"day": self.day, "coins": self.ship.coins, "worth": self._worth()}

    def _worth(self):
        """Coins, and the hold at the usual prices."""
        return self.ship.coins + sum(GOODS[good] * count for good, count in self.ship.hold.items())

    def _market(self):
        market = Market()
        for good, usual in GOODS.items():
            market.prices[good] = max(1, round(usual * self.rng.uniform(0.6, 1.6)))
            market.stock[good] = self.rng.randint(2, 12)
        return market

    def _pass_days(self, days):
        for _ in range(days):
            self.day += 1
            for market in self.markets.values():
                if self.rng.random() < 0.5:
                    market.drift(self.rng)
        self.weather = self.rng.choice((Weather.CALM, Weather.FAIR, Weather.FAIR, Weather.ROUGH))

    def _buy(self, good, count):
        market = self.markets[self.ship.place]
        if good not in GOODS:
            return "Nobody sells that here."
        if count > market.stock[good] or self.ship.load + count > HOLD:
            return f"You cannot take {count} of {good}."
        cost = market.prices[good] * count
        if cost > self.ship.coins:
            return f"That costs {cost} coins, more than you have."
        self.ship.coins -= cost
        market.stock[good] -= count
        self.ship.stow(good, count)
        return f"You buy {count} of {good} for {cost}."

    def _sell(self, good, count):
        held = self.ship.hold.get(good, 0)
        if count > held:
            return f"You have {held} of {good}."
        gain = self.markets[self.ship.place].prices[good] * count
        self.ship.coins += gain
        self.ship.unload(good, count)
        return f"You sell {count} of {good} for {gain}."

    def _sail(self, word, _count):
        port = self.chart.named(word)
        if port is None or port not in self.chart.lanes[self.ship.place]:
            return "No lane leads there."
        days = self.chart.lanes[self.ship.place][port] + self.weather.delay
        self.ship.place = port
        self._pass_days(days)
        return f"You reach {port} after {days} days, {self.chart.hops(port, self.home)} lanes from home."

    def _look(self, _word, _count):
        return "; ".join(f"{port}: {len(lanes)} lanes" for port, lanes in self.chart.lanes.items())

    def _wait(self, _word, _count):
        self._pass_days(1)
        return "A day goes by."

    def _view(self, said):
        ship, market = self.ship, self.markets[self.ship.place]
        lanes = ", ".join(f"{port} {days}d" for port, days in sorted(self.chart.lanes[ship.place].items()))
        hold = ", ".join(f"{count} {good}" for good, count in sorted(ship.hold.items())) or "empty"
        cheap = min(GOODS, key=lambda good: market.prices[good] / GOODS[good])
        return (
            f"{said}\\nDay {self.day} of {LAST_DAY}, {self.weather.word}. {ship.place} (home {self.home}). "
            f"Coins {ship.coins} of {self.wanted}.\\n"
            f"Market: {', '.join(map(market.quote, GOODS))}; {cheap} is cheap.\\n"
            f"Hold {ship.load}/{HOLD}: {hold}.\\nLanes: {lanes}.\\nTurn {self.turn} of {self.max_turns}.\\n"
            f"Before: {' '.join(self.log) or 'nothing'}"
        )
'''
ACTIONS = (
    "buy salt 3", "sail brae", "sell salt 1", "buy fish 2", "sail arran", "look", "sail coll", "sell fish 1", "wait",
    "sail dunan", "hm, where to?", "buy wool 1", "sail eigg", "sell salt 2", "sail fara",
)  # fmt: skip
"""What is played, in turn; the other two programs take any word."""
