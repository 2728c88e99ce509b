"""ACEBench's food delivery: accounts, menus, orders, as the upstream scenario `FoodPlatform` has them in English.

Plain data and rules. A call never raises for what a model wrote; it answers with a status and a sentence.
"""

from dataclasses import dataclass, field

from .acebench_phone import Answer, Device, done, refused

_ACCOUNTS = {
    "Eve": ("password123", 500.0), "Frank": ("password456", 300.0), "Grace": ("password789", 150.0),
    "Helen": ("password321", 800.0), "Isaac": ("password654", 400.0), "Jack": ("password654", 120.0),
}  # fmt: skip
MENUS = {
    "Domino's": {"Margherita Pizza": 68.0, "Super Supreme Pizza": 88.0},
    "Rice Village Bibimbap": {"Stone Pot Bibimbap": 35.0, "Korean Beef Bibimbap": 45.0},
    "Haidilao": {"Beef Rolls": 68.0, "Seafood Platter": 88.0},
    "Heytea": {"Cheese Milk Tea": 25.0, "Four Seasons Spring Milk Tea": 22.0},
    "Hema Fresh": {"Organic Vegetable Pack": 15.0, "Fresh Gift Pack": 99.0},
    "Jiutian BBQ": {"Korean Grilled Beef": 128.0, "Grilled Pork Belly": 78.0},
}
"""Prices in yuan."""


@dataclass
class Account:
    """A customer."""

    user_id: str
    password: str
    balance: float


def _accounts() -> dict[str, Account]:
    return {name: Account(f"U{100 + at}", *one) for at, (name, one) in enumerate(_ACCOUNTS.items())}


@dataclass(kw_only=True)
class FoodPlatform:
    """Six customers, six merchants."""

    device: Device
    accounts: dict[str, Account] = field(default_factory=_accounts)
    logged_in_users: list[str] = field(default_factory=list)
    orders: list[Answer] = field(default_factory=list)

    def login_food_platform(self, username: str, password: str) -> Answer:
        """Needs the network, not the device's login."""
        if not self.device.wifi:
            return refused("Wi-Fi is off, so nobody can log in.")
        if username not in self.accounts:
            return refused("The user does not exist.")
        if self.accounts[username].password != password:
            return refused("The password is wrong.")
        if username in self.logged_in_users:
            return refused(f"{username} is logged in already.")
        self.logged_in_users.append(username)
        return done(f"{username} is logged in.")

    def check_balance(self, user_name: str) -> float:
        """Zero for nobody."""
        return self.accounts[user_name].balance if user_name in self.accounts else 0.0

    def get_products(self, merchant_name: str) -> Answer | list[Answer]:
        """The menu."""
        if merchant_name not in MENUS:
            return refused(f"There is no merchant '{merchant_name}'.")
        return [{"product": product, "price": price} for product, price in MENUS[merchant_name].items()]

    def add_food_delivery_order(self, username: str, merchant_name: str, items: list[object]) -> Answer:
        """Needs the customer's login and the money."""
        if username not in self.logged_in_users:
            return refused(f"{username} is not logged in to the food platform.")
        if merchant_name not in MENUS:
            return refused("The merchant does not exist.")
        lines: list[Answer] = []
        total = 0.0
        for item in items:
            if not isinstance(item, dict):
                return refused("Each item needs a product and a quantity.")
            product, quantity = item.get("product"), item.get("quantity", 1)
            if not isinstance(quantity, int) or quantity <= 0:
                return refused(f"{quantity} is no valid quantity of {product}.")
            if not isinstance(product, str) or product not in MENUS[merchant_name]:
                return refused(f"{merchant_name} has no {product} on the menu.")
            price = MENUS[merchant_name][product]
            total += price * quantity
            lines.append({"product": product, "quantity": quantity, "price_per_unit": price})
        if total > self.accounts[username].balance:
            return refused("The balance is too low for this order.")
        self.accounts[username].balance -= total
        self.orders.append(
            {"user_name": username, "merchant_name": merchant_name, "items": lines, "total_price": total}
        )
        return done(f"The order was placed with {merchant_name}. It comes to {total} yuan.")

    def state(self) -> Answer:
        """As the possible answers name it."""
        users = {
            name: {"user_id": one.user_id, "password": one.password, "balance": one.balance}
            for name, one in self.accounts.items()
        }
        return {"users": users, "logged_in_users": list(self.logged_in_users), "orders": list(self.orders)}
