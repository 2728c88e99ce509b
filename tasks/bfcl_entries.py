"""A script for bfcl-eval's own environment: its multi-turn entries as its loader makes them, over lines of JSON.

It is run by path with that environment's Python (`harness.sidecar`) and is not imported by us. No model's text comes
here.

    {"category": "multi_turn_base"}  ->  {"value": {"entries": [...], "docs": {...}, "tools": {...}, ...}}
    {"entry": {...}, "turns": [...], "gold": [...]}  ->  {"value": {"valid": true, "kind": ""}}

The second is the untouched checker's verdict, for parity. It evaluates what it is given, so it is given calls that come
from the gold ones and nothing else.
"""

import json
import sys
import types
from typing import Any

PARSERS = "bfcl_eval.model_handler.parser"
HOLE = "@functions@"
WITHHELD = "withheld "


def main() -> None:
    """Answer until nobody asks any more."""
    package = _package()
    for line in sys.stdin:
        asked = json.loads(line)
        value = _category(package, asked["category"]) if "category" in asked else _verdict(asked)
        sys.stdout.write(json.dumps({"value": value}) + "\n")
        sys.stdout.flush()


def _package() -> Any:
    """What is needed of bfcl_eval; its parsers of Java and JavaScript, which need tree-sitter, are left out."""
    for name, language in (("java_parser", "java"), ("js_parser", "javascript")):
        module = types.ModuleType(f"{PARSERS}.{name}")
        vars(module)[f"parse_{language}_function_call"] = None
        sys.modules[module.__name__] = module
    from bfcl_eval.constants import default_prompts  # type: ignore[import-not-found]
    from bfcl_eval.constants.enums import ModelStyle  # type: ignore[import-not-found]
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # type: ignore[import-not-found]
    from bfcl_eval.model_handler import utils as handling  # type: ignore[import-not-found]
    from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry  # type: ignore[import-not-found]

    return types.SimpleNamespace(
        entries=load_dataset_entry, golds=load_ground_truth_entry, prompts=default_prompts, handling=handling,
        tool=lambda doc: handling.convert_to_tool([doc], GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS)[0],
    )  # fmt: skip


def _category(package: Any, category: str) -> dict[str, object]:
    """Functions stand by key in tables of all entries; those withheld at first lack the package's language hint."""
    golds = {gold["id"]: gold["ground_truth"] for gold in package.golds(category)}
    docs: dict[str, dict[str, Any]] = {}
    told = []
    for entry in package.entries(category):
        withheld = {turn: found for turn, found in entry.get("missed_function", {}).items() if found}
        told.append(
            {
                "id": entry["id"], "question": entry["question"], "initial_config": entry["initial_config"],
                "involved_classes": entry["involved_classes"], "functions": _keys(docs, entry["function"], ""),
                "withheld": {turn: _keys(docs, found, WITHHELD) for turn, found in withheld.items()},
                "gold": golds[entry["id"]],
            }
        )  # fmt: skip
    prompts = package.prompts
    system = package.handling.formulate_system_prompt(prompts.DEFAULT_SYSTEM_PROMPT_FORMAT, [HOLE])
    return {
        "entries": told,
        "docs": docs,
        "tools": {key: package.tool(doc)["function"] for key, doc in docs.items()},
        "system": system.split(json.dumps([HOLE], indent=4)),
        "more": prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC,
        "more_prompting": prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING.split("{functions}"),
    }


def _verdict(asked: dict[str, Any]) -> dict[str, object]:
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import (  # type: ignore[import-not-found]
        multi_turn_checker,
    )

    entry = asked["entry"]
    verdict = multi_turn_checker(asked["turns"], asked["gold"], entry, entry["id"].rsplit("_", 1)[0], "player")
    for name in [name for name in vars(multi_turn_utils) if name.endswith("_instance")]:
        del vars(multi_turn_utils)[name]
    return {"valid": verdict["valid"], "kind": verdict.get("error_type", "").removeprefix("multi_turn:")}


def _keys(docs: dict[str, dict[str, Any]], functions: list[dict[str, Any]], prefix: str) -> list[str]:
    for doc in functions:
        if docs.setdefault(prefix + doc["name"], doc) != doc:
            raise ValueError(f"two functions are called {doc['name']}")
    return [prefix + doc["name"] for doc in functions]


if __name__ == "__main__":
    main()
