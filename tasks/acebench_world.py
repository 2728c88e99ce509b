"""One ACEBench scenario: the classes that an item involves, played by calls with literal arguments.

Every class of an item shares one device. A call that does not fit is answered with an error text, as upstream does; it
never raises and runs nothing but the functions of `APPS`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .acebench_calls import Call
from .acebench_food import FoodPlatform
from .acebench_phone import Device, Messages, Reminders
from .acebench_travel import Travel

APPS: dict[str, tuple[str, ...]] = {
    "BaseApi": ("turn_on_wifi", "login_device"),
    "MessageApi": (
        "send_message", "delete_message", "view_messages_between_users", "search_messages", "get_latest_message_id",
        "get_earliest_message_id",
    ),
    "ReminderApi": ("add_reminder", "view_reminder_by_title", "search_reminders"),
    "FoodPlatform": ("login_food_platform", "check_balance", "add_food_delivery_order", "get_products"),
    "Travel": (
        "get_user_details", "get_flight_details", "get_reservation_details", "reserve_flight", "modify_flight",
        "cancel_reservation", "find_transfer_flights",
    ),
}  # fmt: skip
"""The functions that the data files offer, by class. Upstream's classes have a few more, which no item tells of."""
_WHOLE, _LISTS = frozenset({"message_id", "baggage_count", "add_baggage"}), frozenset({"items"})
FAILED = "Error during execution: "
"""What the answer to a call that does not fit begins with."""


class World:
    """A scenario as far as it has been played."""

    def __init__(self, involved: Sequence[str], config: Mapping[str, Mapping[str, Any]]) -> None:
        base = config.get("BaseApi", {})
        self._device = Device(wifi=bool(base.get("wifi", False)), logged_in=bool(base.get("logged_in", True)))
        made: dict[str, Callable[[], Any]] = {
            "BaseApi": lambda: self._device,
            "MessageApi": lambda: Messages(device=self._device),
            "ReminderApi": lambda: Reminders(device=self._device),
            "FoodPlatform": lambda: FoodPlatform(device=self._device),
            "Travel": Travel,
        }
        self._apps = {name: made[name]() for name in involved}
        self._functions = {
            name: getattr(app, name) for known, app in self._apps.items() for name in APPS[known]
        } | {name: getattr(self._device, name) for name in APPS["BaseApi"] if "Travel" not in involved}  # fmt: skip

    def execute(self, calls: Sequence[Call]) -> list[Any]:
        """The answers, in order."""
        return [self._answer(call) for call in calls]

    def state(self) -> list[dict[str, Any]]:
        """Class by class, as the possible answers write it: plain data with texts for keys."""
        return [{name: app.state()} for name, app in self._apps.items()]

    def _answer(self, call: Call) -> Any:
        function = self._functions.get(call.name)
        if function is None:
            return f"{FAILED}there is no function {call.name}"
        try:
            inspect.signature(function).bind(**call.arguments)
        except TypeError as error:
            return f"{FAILED}{call.name}: {error}"
        wrong = [key for key, value in call.arguments.items() if not _fits(function, key, value)]
        if wrong:
            return f"{FAILED}{call.name}: the type of {', '.join(wrong)} is wrong"
        return function(**call.arguments)


def _fits(function: Callable[..., Any], key: str, value: object) -> bool:
    if value is None:
        return inspect.signature(function).parameters[key].default is None
    if key in _WHOLE:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, list if key in _LISTS else str)
