import inspect
import json
import random

import pytest

from spadework.tasks.acebench_calls import Call
from spadework.tasks.acebench_world import APPS, World

PHONE = ("BaseApi", "MessageApi", "ReminderApi", "FoodPlatform")


def world(wifi: bool = True, logged_in: bool = True) -> World:
    return World(PHONE, {"BaseApi": {"wifi": wifi, "logged_in": logged_in}})


def ask(place: World, name: str, **arguments: object) -> object:
    return place.execute([Call(name, arguments)])[0]


def done(answer: object) -> bool:
    assert isinstance(answer, dict)
    return bool(answer["status"])


def test_every_app_shares_the_device() -> None:
    place = world(wifi=False, logged_in=False)
    send = {"sender_name": "Eve", "receiver_name": "Frank", "message": "hello"}
    assert not done(ask(place, "send_message", **send))
    assert not done(ask(place, "login_food_platform", username="Eve", password="password123"))
    assert done(ask(place, "login_device"))
    assert done(ask(place, "delete_message", message_id=4))
    assert not done(ask(place, "send_message", **send)), "the network is off"
    assert done(ask(place, "turn_on_wifi"))
    assert done(ask(place, "send_message", **send))
    assert done(ask(place, "login_food_platform", username="Eve", password="password123"))
    (inbox,) = [state["MessageApi"]["inbox"] for state in place.state() if "MessageApi" in state]
    assert sorted(inbox) == ["1", "2", "3", "5", "6", "7"]
    assert inbox["7"] == {"sender_id": "USR100", "receiver_id": "USR101", "message": "hello"}


def test_a_second_episode_begins_anew() -> None:
    """P076."""
    before = json.dumps(world().state())
    place = world()
    ask(place, "delete_message", message_id=1)
    ask(place, "login_food_platform", username="Jack", password="password654")
    order = [{"product": "Grilled Pork Belly", "quantity": 1}]
    assert done(ask(place, "add_food_delivery_order", username="Jack", merchant_name="Jiutian BBQ", items=order))
    assert json.dumps(world().state()) == before


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no_such", {}), ("__init__", {}), ("state", {}), ("_answer", {}), ("turn_on_wifi", {"now": True}),
        ("delete_message", {}), ("delete_message", {"message_id": "4"}), ("delete_message", {"message_id": True}),
        ("delete_message", {"message_id": None}), ("login_food_platform", {"username": ["Eve"], "password": "x"}),
        ("add_food_delivery_order", {"username": "Eve", "merchant_name": "Heytea", "items": "tea"}),
        ("reserve_flight", {"user_id": "user1"}),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_answered_with_an_error_and_changes_nothing(
    name: str, arguments: dict[str, object]
) -> None:  # fmt: skip
    place = world()
    before = place.state()
    assert str(ask(place, name, **arguments)).startswith("Error during execution: ")
    assert place.state() == before


def test_orders_need_products_quantities_and_money() -> None:
    place = world()
    ask(place, "login_food_platform", username="Jack", password="password654")

    def order(*items: object, merchant: str = "Jiutian BBQ") -> bool:
        return done(
            ask(place, "add_food_delivery_order", username="Jack", merchant_name=merchant, items=list(items))
        )  # fmt: skip

    assert not order({"product": "Korean Grilled Beef", "quantity": 1}), "128 of 120 yuan"
    assert not order({"product": "Grilled Pork Belly", "quantity": 0})
    assert not order({"product": "Grilled Pork Belly", "quantity": 1.5})
    assert not order({"product": ["Grilled Pork Belly"], "quantity": 1})
    assert not order("Grilled Pork Belly")
    assert not order({"product": "Grilled Pork Belly", "quantity": 1}, merchant="Nobody")
    assert ask(place, "check_balance", user_name="Jack") == 120.0
    assert order({"product": "Grilled Pork Belly"}), "one, where no quantity is given"
    assert ask(place, "check_balance", user_name="Jack") == 42.0


def test_messages_and_reminders_are_found_and_the_lists_have_a_capacity() -> None:
    place = world()
    assert ask(place, "get_latest_message_id") == {
        "status": True, "message": "The latest message has ID 4.", "message_id": 4,
    }  # fmt: skip
    assert "'message_id': 3" in str(ask(place, "get_earliest_message_id"))
    assert [one["id"] for one in ask(place, "search_messages", user_name="Isaac", keyword="CALL")["messages"]] == [5]  # type: ignore[index]
    assert done(ask(place, "view_messages_between_users", sender_name="Frank", receiver_name="Grace"))
    assert not done(ask(place, "view_messages_between_users", sender_name="Frank", receiver_name="Jack"))
    assert done(ask(place, "view_reminder_by_title", title="To-do list"))
    assert not done(ask(place, "view_reminder_by_title", title="to-do list"))
    assert done(ask(place, "search_reminders", keyword="checkup"))
    added = [done(ask(place, "add_reminder", title="a", description="b", time="c")) for _ in range(4)]
    assert added == [True, True, True, False]


def test_the_airline_books_changes_and_cancels_by_its_odd_rules() -> None:
    place = World(("Travel",), {})
    user = {"user_id": "user1", "password": "password123"}

    def bank() -> float:
        return float(place.state()[0]["Travel"]["users"]["user1"]["bank_balance"])

    book = {**user, "flight_no": "CA1234", "cabin": "Economy Class", "payment_method": "bank", "baggage_count": 3}
    assert "res_5" in str(ask(place, "reserve_flight", **book))
    assert bank() == 50000 - 1200 - 2 * 50
    assert "wrong" in str(ask(place, "reserve_flight", **{**book, "password": "guess"}))
    assert "no cabin" in str(ask(place, "reserve_flight", **{**book, "cabin": "First Class"}))
    assert "too low" in str(
        ask(place, "reserve_flight", **{**book, "payment_method": "cash", "cabin": "Business Class"})
    )
    change = {"user_id": "user1", "reservation_id": "res_2", "new_flight_no": "CZ4352", "new_cabin": "Economy Class"}
    before = bank()
    ask(place, "modify_flight", **change)
    assert bank() == before + 1100, "by the prices of the flight before"
    assert "cannot be changed" in str(ask(place, "modify_flight", **{**change, "new_flight_no": "CA1234"}))
    assert "not known" in str(ask(place, "modify_flight", user_id="user2", reservation_id="res_4"))
    assert "1200 yuan" in str(ask(place, "cancel_reservation", user_id="user1", reservation_id="res_1", reason="other"))
    assert ask(place, "get_flight_details", origin="Beijing", destination="Shenzhen") == "No direct flight fits."
    assert len(ask(place, "find_transfer_flights", origin_city="Beijing", transfer_city="Nanjing",
                   destination_city="Shenzhen")) == 1  # type: ignore[arg-type]  # fmt: skip
    assert [one["flight_info"] for one in ask(place, "get_reservation_details", reservation_id="res_4")] == [None]  # type: ignore[attr-defined]
    assert "password" not in str(ask(place, "get_user_details", **user))


def test_no_literal_arguments_bring_a_world_down() -> None:
    odd: list[object] = [
        None, True, False, 0, -1, 2**53, -(2**53), 1.5, 1e15, "", "Eve", "user1", "res_2", "Economy Class", "bank",
        [], [[]], [{}], [{"product": {}, "quantity": {}}], [{"product": "Fresh Gift Pack", "quantity": 2**53}],
        [{1: 2}], "\0", {}, {"a": [1]}, "Hema Fresh", "password123", "CZ4352", "2024-07-15 09:30",
    ]  # fmt: skip
    generator = random.Random(7)
    for involved in (PHONE, ("Travel",)):
        place = World(involved, {"BaseApi": {"wifi": True, "logged_in": True}})
        names = [name for app in involved for name in APPS[app]]
        keys = {name: list(inspect.signature(place._functions[name]).parameters) for name in names}
        for _ in range(5000):
            name = generator.choice(names)
            call = Call(name, {key: generator.choice(odd) for key in keys[name]})
            json.dumps([place.execute([call]), place.state()])


def test_the_telephone_has_no_flights_and_the_airline_no_telephone() -> None:
    assert str(ask(world(), "get_flight_details")).startswith("Error")
    assert str(World(("Travel",), {}).execute([Call("turn_on_wifi", {})])[0]).startswith("Error")
    assert set(APPS) == {*PHONE, "Travel"}
