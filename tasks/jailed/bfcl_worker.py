"""What runs in the jail: bfcl-eval's executor and multi-turn checker, on calls that a model made.

The executor evaluates each call's text. Here it does not: in the place of its `eval` stands a reader that takes a call
of one of the entry's public methods with literal arguments, and refuses everything else with the error that Python
would have given. Every process plays one episode from its beginning, so no state of an earlier one is there. Imported
by path, with bfcl-eval's own environment beside it (`bfcl_judge`).
"""

import ast
import re
from typing import Any

from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING  # type: ignore[import-not-found]
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils as executor  # type: ignore[import-not-found]
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import (  # type: ignore[import-not-found]
    multi_turn_checker,
)

Entry = dict[str, Any]
Step = list[str]
PLAYER = "player"
CLASSES = (
    "GorillaFileSystem", "MathAPI", "MessageAPI", "TicketAPI", "TradingBot", "TravelAPI", "TwitterAPI",
    "VehicleControlAPI",
)  # fmt: skip
USED = (
    "ls(a=True)", "logarithm(value=2.5, base=10, precision=5)", "touch(file_name='a')", "mean(numbers=[1, 2.5])",
    "get_stock_info(symbol='AAPL')", "list_all_airports()", "get_current_time()", "du(human_readable=True)",
)  # fmt: skip
_TURN = re.compile(r"for turn (\d+)")


def execute(entry: Entry, steps: list[Step]) -> list[str]:
    """What the calls of the last step return, once those of all steps before it were executed."""
    results: list[str] = []
    for step in steps:
        results, _ = executor.execute_multi_turn_func_call(
            step, entry["initial_config"], entry["involved_classes"], PLAYER, entry["id"],
            long_context="long_context" in entry["id"],
        )  # fmt: skip
    return [str(result) for result in results]


def check(entry: Entry, turns: list[list[Step]], gold: list[Step]) -> dict[str, Any]:
    """The official verdict: whether it is right; else of which kind the first difference is, and in which turn."""
    verdict = multi_turn_checker(turns, gold, entry, entry["id"].rsplit("_", 1)[0], PLAYER)
    if verdict["valid"]:
        return {"valid": True, "kind": "", "turn": len(gold)}
    named = _TURN.search(verdict["error_message"])
    turn = int(named[1]) if named else len(verdict["execution_result"]) - 1
    return {"valid": False, "kind": verdict["error_type"].removeprefix("multi_turn:"), "turn": turn}


def warm() -> None:
    """Import every class, and use once what is imported or read only then."""
    for name in CLASSES:
        __import__(CLASS_FILE_PATH_MAPPING[name])
    for long_context in ("", "_long_context"):
        entry = {"id": f"warm{long_context}_0", "initial_config": {}, "involved_classes": list(CLASSES)}
        execute(entry, [list(USED)])
    for name in [name for name in vars(executor) if name.endswith("_instance")]:
        del vars(executor)[name]


def _evaluated(text: str) -> Any:
    """In the place of `eval`: the value of one call with literal arguments. Raises what a call can raise."""
    compile(text, "<string>", "eval", dont_inherit=True)  # a SyntaxError in the words of `eval`; nothing is run
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call):
        raise ValueError("not a function call")
    method = _method(call.func)
    given = [_literal(node) for node in call.args]
    named = {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords if keyword.arg is not None}
    if len(named) < len(call.keywords):
        raise ValueError("arguments must be written out")
    return method(*given, **named)


def _method(function: ast.expr) -> Any:
    """A public method of an instance of this episode."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        owner = function.value.id
        if owner.endswith("_instance") and owner in vars(executor) and not function.attr.startswith("_"):
            return getattr(vars(executor)[owner], function.attr)
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
    raise NameError(f"name {names[0]!r} is not defined" if names else "not a function's name")


def _literal(node: ast.expr) -> Any:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            raise NameError(f"name {part.id!r} is not defined")
    return ast.literal_eval(node)


vars(executor)["eval"] = _evaluated
