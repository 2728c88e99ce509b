"""ACEBench's airline: travellers, flights, reservations, as the upstream scenario `Travel` has them in English.

Plain data and rules, those of upstream even where they are odd: a change of cabin is paid by the prices of the old
flight, luggage is added though the money does not suffice, a cancelled reservation stays in the list.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .acebench_phone import Answer

ECONOMY, BUSINESS = "Economy Class", "Business Class"
FREE_LUGGAGE = {
    "regular": {ECONOMY: 1, BUSINESS: 2}, "silver": {ECONOMY: 2, BUSINESS: 3}, "gold": {ECONOMY: 3, BUSINESS: 3},
}  # fmt: skip
LUGGAGE_PRICE = 50
NOW = datetime(2024, 7, 14, 6)
"""When a flight is cancelled."""
_TRAVELLERS = (
    ("user1", "Eve", "password123", 2000.0, 50000.0, "regular"),
    ("user2", "Frank", "password456", 8000.0, 8000.0, "silver"),
    ("user3", "Grace", "password789", 1000.0, 5000.0, "gold"),
)
_FLIGHTS = (
    ("CA1234", "Beijing", "Shanghai", "2024-07-15 08:00:00", "2024-07-15 10:30:00", 5, 1200, 3000),
    ("MU5678", "Shanghai", "Beijing", "2024-07-16 09:00:00", "2024-07-16 11:30:00", 3, 1900, 3000),
    ("CZ4321", "Shanghai", "Beijing", "2024-07-16 20:00:00", "2024-07-16 22:00:00", 8, 2500, 4000),
    ("CZ4352", "Shanghai", "Beijing", "2024-07-17 20:00:00", "2024-07-17 22:00:00", 8, 1600, 2500),
    ("MU3561", "Beijing", "Nanjing", "2024-07-18 08:00:00", "2024-07-18 10:00:00", 8, 1500, 4000),
    ("MU1566", "Beijing", "Nanjing", "2024-07-18 20:00:00", "2024-07-18 22:00:00", 8, 1500, 4000),
    ("CZ1765", "Nanjing", "Shenzhen", "2024-07-17 20:30:00", "2024-07-17 22:00:00", 8, 1500, 2500),
    ("CZ1765", "Nanjing", "Shenzhen", "2024-07-18 12:30:00", "2024-07-18 15:00:00", 8, 1500, 2500),
    ("MH1765", "Xiamen", "Chengdu", "2024-07-17 12:30:00", "2024-07-17 15:00:00", 8, 1500, 2500),
    ("MH2616", "Chengdu", "Xiamen", "2024-07-18 18:30:00", "2024-07-18 21:00:00", 8, 1500, 2500),
    ("MH2616", "Chengdu", "Fuzhou", "2024-07-16 18:30:00", "2024-07-16 21:00:00", 8, 1500, 2500),
)
_RESERVATIONS = (
    ("user1", "CA1234", ECONOMY, "Beijing", "Shanghai"), ("user1", "MU5678", BUSINESS, "Shanghai", "Beijing"),
    ("user2", "MH1765", BUSINESS, "Xiamen", "Chengdu"), ("user2", "MU2616", BUSINESS, "Chengdu", "Xiamen"),
)  # fmt: skip


@dataclass
class Flight:
    """One departure; a number may depart on several days, and then the first one is meant."""

    flight_no: str
    origin: str
    destination: str
    depart_time: str
    arrival_time: str
    seats_available: int
    economy_price: int
    business_price: int

    def price(self, cabin: object) -> int:
        """Of a cabin; nothing for one that does not exist."""
        return {ECONOMY: self.economy_price, BUSINESS: self.business_price}.get(str(cabin), 0)

    def told(self) -> Answer:
        """As it is shown."""
        return {
            "flight_no": self.flight_no, "origin": self.origin, "destination": self.destination,
            "depart_time": self.depart_time, "arrival_time": self.arrival_time, "status": "available",
            "seats_available": self.seats_available, "economy_price": self.economy_price,
            "business_price": self.business_price,
        }  # fmt: skip


def _travellers() -> dict[str, dict[str, str | float]]:
    keys = ("user_name", "password", "cash_balance", "bank_balance", "membership_level")
    return {user: dict(zip(keys, rest, strict=True)) for user, *rest in _TRAVELLERS}  # type: ignore[arg-type]


def _reservations() -> list[Answer]:
    return [
        {
            "reservation_id": f"res_{number}", "user_id": user, "flight_no": flight, "payment_method": "bank",
            "cabin": cabin, "baggage": 1, "origin": origin, "destination": destination,
        }
        for number, (user, flight, cabin, origin, destination) in enumerate(_RESERVATIONS, start=1)
    ]  # fmt: skip


@dataclass(kw_only=True)
class Travel:
    """Three travellers and eleven departures."""

    users: dict[str, dict[str, str | float]] = field(default_factory=_travellers)
    flights: list[Flight] = field(default_factory=lambda: [Flight(*one) for one in _FLIGHTS])
    reservations: list[Answer] = field(default_factory=_reservations)

    def get_user_details(self, user_id: str, password: str) -> Answer:
        """Without the password."""
        if not self._known(user_id, password):
            return {"status": "error", "message": "The user or the password is wrong."}
        return {key: value for key, value in self.users[user_id].items() if key != "password"}

    def get_flight_details(self, origin: str | None = None, destination: str | None = None) -> str | list[Answer]:
        """Departures from and to."""
        found = list(self._between(origin, destination))
        return [one.told() for one in found] if found else "No direct flight fits."

    def find_transfer_flights(
        self, origin_city: str, transfer_city: str, destination_city: str
    ) -> str | list[Answer]:  # fmt: skip
        """Pairs of departures of which the first arrives before the second leaves."""
        found: list[Answer] = [
            {"first_leg": first.told(), "second_leg": second.told()}
            for first in self._between(origin_city, transfer_city)
            for second in self._between(transfer_city, destination_city)
            if first.arrival_time < second.depart_time
        ]
        return found or "No connecting flights fit."

    def get_reservation_details(
        self, reservation_id: str | None = None, user_id: str | None = None
    ) -> Answer | list[Answer]:  # fmt: skip
        """One reservation, or those of one traveller, with their flights."""
        if not reservation_id and not user_id:
            return {"status": "error", "message": "A reservation ID or a user ID is needed."}
        key, wanted = ("reservation_id", reservation_id) if reservation_id else ("user_id", user_id)
        found = [one for one in self.reservations if one[key] == wanted]
        flights = [self._flight(one["flight_no"]) for one in found]
        return [
            {**one, "flight_info": flight.told() if flight else None}
            for one, flight in zip(found, flights, strict=True)
        ]

    def reserve_flight(
        self, user_id: str, password: str, flight_no: str, cabin: str, payment_method: str, baggage_count: int
    ) -> str:  # fmt: skip
        """Needs the password and the money; luggage beyond the free pieces is paid."""
        if not self._known(user_id, password):
            return "The user or the password is wrong."
        flight, user = self._flight(flight_no), self.users[user_id]
        free = FREE_LUGGAGE[str(user["membership_level"])]
        if flight is None:
            return f"There is no flight {flight_no}."
        if cabin not in free:
            return f"There is no cabin {cabin}; there are {ECONOMY} and {BUSINESS}."
        cost = flight.price(cabin) + max(baggage_count - free[cabin], 0) * LUGGAGE_PRICE
        if payment_method not in ("cash", "bank"):
            return "The payment method must be cash or bank."
        if not self._pay(user_id, payment_method, cost):
            return f"The {payment_method} balance is too low; another payment method may do."
        flight.seats_available -= 1
        number = f"res_{len(self.reservations) + 1}"
        self.reservations.append(
            {
                "reservation_id": number, "user_id": user_id, "flight_no": flight_no, "payment_method": payment_method,
                "cabin": cabin, "baggage": baggage_count,
            }
        )  # fmt: skip
        return f"The flight is booked as {number}. It costs {cost} yuan with luggage."

    def modify_flight(
        self, user_id: str, reservation_id: str, new_flight_no: str | None = None, new_cabin: str | None = None,
        add_baggage: int = 0, new_payment_method: str | None = None,
    ) -> str:  # fmt: skip
        """Another flight of the same route, another cabin, more luggage; each step that can be done is done."""
        booked = self._booked(user_id, reservation_id)
        if booked is None:
            return "There is no such reservation of this user."
        flight = self._flight(booked["flight_no"])
        if flight is None:
            return "The flight of this reservation is not known."
        paid_by = new_payment_method or str(booked["payment_method"])
        told = []
        if new_flight_no and new_flight_no != booked["flight_no"]:
            other = self._flight(new_flight_no)
            if other is None or (other.origin, other.destination) != (flight.origin, flight.destination):
                return "The flight cannot be changed: there is no such flight on this route."
            booked["flight_no"] = new_flight_no
            told.append("The flight was changed.")
        if new_cabin and new_cabin != booked["cabin"]:
            difference = flight.price(new_cabin) - flight.price(booked["cabin"])
            booked["cabin"] = new_cabin
            paid = self._pay(user_id, paid_by, difference)
            told.append(f"The cabin was changed for {difference} yuan." if paid else "The balance is too low for it.")
        if add_baggage > 0:
            told.append(self._add_luggage(booked, user_id, paid_by, add_baggage))
        return " ".join(told) or "Nothing had to be paid."

    def cancel_reservation(self, user_id: str, reservation_id: str, reason: str) -> str:
        """Refunds in cash: all of it until a day before the departure, nine tenths after that."""
        if user_id not in self.users:
            return "The user does not exist."
        booked = self._booked(user_id, reservation_id)
        if booked is None:
            return "There is no such reservation of this user."
        flight = self._flight(booked["flight_no"])
        if flight is None:
            return "The flight of this reservation is not known."
        left = datetime.fromisoformat(flight.depart_time) - NOW
        if left < timedelta(0):
            return "The flight has left and cannot be cancelled."
        price = flight.economy_price if booked["cabin"] == ECONOMY else flight.business_price
        whole = reason == "The airline has canceled the flight." or left > timedelta(days=1)
        refund = price if whole else price - price * 0.1
        self._pay(user_id, "cash", -refund)
        return f"The reservation was cancelled and {refund} yuan were refunded."

    def state(self) -> Answer:
        """As the possible answers name it."""
        users = {user: dict(one) for user, one in self.users.items()}
        return {"users": users, "reservations": [dict(one) for one in self.reservations]}

    def _known(self, user_id: str, password: str) -> bool:
        return user_id in self.users and self.users[user_id]["password"] == password

    def _between(self, origin: str | None, destination: str | None) -> Iterator[Flight]:
        for one in self.flights:
            if (not origin or one.origin == origin) and (not destination or one.destination == destination):
                yield one

    def _flight(self, flight_no: object) -> Flight | None:
        return next((one for one in self.flights if one.flight_no == flight_no), None)

    def _booked(self, user_id: str, reservation_id: str) -> Answer | None:
        wanted = (user_id, reservation_id)
        return next((one for one in self.reservations if (one["user_id"], one["reservation_id"]) == wanted), None)

    def _pay(self, user_id: str, method: str, amount: float) -> bool:
        """Take an amount, or give back a negative one; a method that does not exist costs nothing, as upstream."""
        user, key = self.users[user_id], f"{method}_balance"
        if key not in user:
            return True
        balance = float(user[key])
        if balance - amount < 0:
            return False
        user[key] = balance - amount
        return True

    def _add_luggage(self, booked: Answer, user_id: str, paid_by: str, pieces: int) -> str:
        before = booked["baggage"]
        assert isinstance(before, int)
        free = FREE_LUGGAGE[str(self.users[user_id]["membership_level"])].get(str(booked["cabin"]), 0)
        cost = max(before + pieces - free, 0) * LUGGAGE_PRICE
        booked["baggage"] = before + pieces
        if self._pay(user_id, paid_by, cost):
            return f"Luggage was added for {cost} yuan."
        return "The balance is too low for the luggage."
