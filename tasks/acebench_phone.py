"""ACEBench's telephone: the device, its messages and its reminders, as the upstream scenario `phone_platform` has them.

Plain data and rules. A call never raises for what a model wrote; it answers with a status and a sentence.
"""

from dataclasses import dataclass, field
from datetime import date

Answer = dict[str, object]
CAPACITY = 6
"""Of the inbox, and of the list of reminders."""
_PEOPLE = ("Eve", "Frank", "Grace", "Helen", "Isaac", "Jack")
USER_IDS = {name: f"USR{100 + number}" for number, name in enumerate(_PEOPLE)}
_INBOX = (
    ("Eve", "Frank", "2024-06-09",
     "Hey Frank, don't forget about our meeting on 2024-06-11 at 4 PM in Conference Room 1."),
    ("Frank", "Grace", "2024-03-09",
     'Can you help me order a "Margherita Pizza" delivery? The merchant is Domino\'s.'),
    ("Grace", "Helen", "2023-12-05",
     "Please check the milk tea delivery options available from Heytea and purchase a cheaper milk tea for me. "
     'After making the purchase, remember to reply to me with "Already bought."'),
    ("Helen", "Grace", "2024-09-09", "No problem Helen, I can assist you."),
    ("Isaac", "Jack", "2024-06-06", "Isaac, are you available for a call?"),
    ("Jack", "Isaac", "2024-01-15", "Yes Jack, let's do it in 30 minutes."),
)  # fmt: skip
_REMINDERS = (
    ("Doctor's Appointment", "Visit Dr. Smith for a checkup.", "2024-07-15 09:30"),
    ("Team Meeting", "Monthly project review with the team.", "2024-07-17 11:00"),
    ("To-do list",
     'First, help Frank place a food delivery order at "Hema Fresh," ordering two "Fresh Gift Packs." Then, send a '
     'message to Frank saying, "The price of the purchased goods is () yuan." Replace the parentheses with the actual '
     "amount, keeping one decimal place.", "2024-07-16 11:00"),
)  # fmt: skip


def refused(why: str) -> Answer:
    """Nothing was done."""
    return {"status": False, "message": why}


def done(what: str, **more: object) -> Answer:
    """Something was done."""
    return {"status": True, "message": what, **more}


@dataclass(kw_only=True)
class Device:
    """What the other apps depend on."""

    wifi: bool = False
    logged_in: bool = True

    def turn_on_wifi(self) -> Answer:
        """Switch it on; it stays on."""
        self.wifi = True
        return done("Wi-Fi has been switched on.")

    def login_device(self) -> Answer:
        """Log in; it stays so."""
        self.logged_in = True
        return done("The device is logged in.")

    def state(self) -> Answer:
        """As the possible answers name it."""
        return {"wifi": self.wifi, "logged_in": self.logged_in}


def _inbox() -> dict[int, dict[str, str]]:
    return {
        number: {"sender_id": USER_IDS[sender], "receiver_id": USER_IDS[receiver], "message": message, "time": time}
        for number, (sender, receiver, time, message) in enumerate(_INBOX, start=1)
    }


@dataclass(kw_only=True)
class Messages:
    """An inbox that six people share; it is full in the beginning. Messages that are sent bear no time."""

    device: Device
    inbox: dict[int, dict[str, str]] = field(default_factory=_inbox)
    last: int = CAPACITY

    def send_message(self, sender_name: str, receiver_name: str, message: str) -> Answer:
        """Needs the login, the network, room, and two people who are known."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so no message can be sent.")
        if not self.device.wifi:
            return refused("Wi-Fi is off, so no message can be sent now.")
        if len(self.inbox) >= CAPACITY:
            return refused("The inbox is full. Ask the user which message is to be deleted.")
        if sender_name not in USER_IDS or receiver_name not in USER_IDS:
            return refused("The sender or the receiver does not exist.")
        self.last += 1
        self.inbox[self.last] = {
            "sender_id": USER_IDS[sender_name], "receiver_id": USER_IDS[receiver_name], "message": message,
        }  # fmt: skip
        return done(f"The message was sent to {receiver_name}.")

    def delete_message(self, message_id: int) -> Answer:
        """Needs the login."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so no message can be deleted.")
        if message_id not in self.inbox:
            return refused("There is no message with this ID.")
        del self.inbox[message_id]
        return done(f"Message {message_id} was deleted.")

    def view_messages_between_users(self, sender_name: str, receiver_name: str) -> Answer:
        """What one person sent to another. Needs the login."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so no message can be viewed.")
        for role, name in (("sender", sender_name), ("receiver", receiver_name)):
            if name not in USER_IDS:
                return refused(f"The {role} does not exist.")
        ends = (USER_IDS[sender_name], USER_IDS[receiver_name])
        found = [
            {"id": number, "sender": sender_name, "receiver": receiver_name, "message": one["message"]}
            for number, one in self.inbox.items()
            if (one["sender_id"], one["receiver_id"]) == ends
        ]
        return {"status": True, "messages": found} if found else refused("No such messages were found.")

    def search_messages(self, user_name: str, keyword: str) -> Answer:
        """What a person sent or got that holds a word, in any case of its letters."""
        if user_name not in USER_IDS:
            return refused("The user does not exist.")
        own = USER_IDS[user_name]
        found = [
            {"id": number, **{key: one[key] for key in ("sender_id", "receiver_id", "message")}}
            for number, one in self.inbox.items()
            if own in (one["sender_id"], one["receiver_id"]) and keyword.lower() in one["message"].lower()
        ]
        return {"status": True, "messages": found} if found else refused("No message holds this keyword.")

    def get_latest_message_id(self) -> Answer:
        """By the day that a message bears."""
        return self._extreme("latest")

    def get_earliest_message_id(self) -> Answer:
        """By the day that a message bears."""
        return self._extreme("earliest")

    def _extreme(self, which: str) -> Answer:
        if not self.device.logged_in:
            return refused(f"The device is not logged in, so the {which} message cannot be told.")
        if not self.inbox:
            return refused("There are no messages.")
        if any("time" not in one for one in self.inbox.values()):
            return refused("Error during execution: 'time'")  # as upstream, once a message has been sent
        order = max if which == "latest" else min
        number = order(self.inbox, key=lambda key: date.fromisoformat(self.inbox[key]["time"]))
        return done(f"The {which} message has ID {number}.", message_id=number)

    def state(self) -> Answer:
        """As the possible answers name it."""
        return {"inbox": {str(number): dict(one) for number, one in self.inbox.items()}}


def _reminders() -> dict[int, Answer]:
    return {
        number: {
            "reminder_id": 1000 + number, "title": title, "description": description, "time": time, "notified": False,
        }
        for number, (title, description, time) in enumerate(_REMINDERS, start=1)
    }  # fmt: skip


@dataclass(kw_only=True)
class Reminders:
    """A list of reminders, half full in the beginning."""

    device: Device
    reminders: dict[int, Answer] = field(default_factory=_reminders)
    last: int = len(_REMINDERS)

    def add_reminder(self, title: str, description: str, time: str) -> Answer:
        """Needs the login and room."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so no reminder can be added.")
        if len(self.reminders) >= CAPACITY:
            return refused("The list of reminders is full.")
        self.last += 1
        self.reminders[self.last] = {
            "reminder_id": self.last, "title": title, "description": description, "time": time, "notified": False,
        }  # fmt: skip
        return done(f"The reminder '{title}' was added.")

    def view_reminder_by_title(self, title: str) -> Answer:
        """The first one of exactly this title. Needs the login."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so no reminder can be viewed.")
        for reminder in self.reminders.values():
            if reminder["title"] == title:
                return {"status": True, "reminder": dict(reminder)}
        return refused(f"No reminder has the title '{title}'.")

    def search_reminders(self, keyword: str) -> Answer:
        """Those whose title or description holds a word. Needs the login."""
        if not self.device.logged_in:
            return refused("The device is not logged in, so reminders cannot be searched.")
        word = keyword.lower()
        found = [
            dict(one)
            for one in self.reminders.values()
            if word in str(one["title"]).lower() or word in str(one["description"]).lower()
        ]
        return {"status": True, "reminders": found} if found else refused("No reminder holds this keyword.")

    def state(self) -> Answer:
        """As the possible answers name it."""
        return {"reminder_list": {str(number): dict(one) for number, one in self.reminders.items()}}
