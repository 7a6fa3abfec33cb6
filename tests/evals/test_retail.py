"""The retail replay on a file of two tasks, with every fault it knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from chatbot.evals import retail
from chatbot.evals.retail import different
from tests.tools.test_retail_shop import DATABASE, HOME

pytestmark = pytest.mark.django_db(transaction=True)

CANCEL = {
    "name": "cancel_pending_order",
    "arguments": {"order_id": "#W1", "reason": "no longer needed"},
}
MOVE = {
    "name": "modify_user_address",
    "arguments": {"user_id": "kim", **HOME, "city": "Austin"},
}


def cancelled() -> dict[str, Any]:
    order: dict[str, Any] = deepcopy(DATABASE["orders"]["#W1"])
    order |= {"status": "cancelled", "cancel_reason": "no longer needed"}
    order["payment_history"].append(
        {
            "transaction_type": "refund",
            "amount": 10.5,
            "payment_method_id": "gift_card_1",
        }
    )
    return order


def user(balance: float = 2.0, city: str = "Denver") -> dict[str, Any]:
    found: dict[str, Any] = deepcopy(DATABASE["users"]["kim"])
    found["payment_methods"]["gift_card_1"]["balance"] = balance
    found["address"]["city"] = city
    return found


def task(name: str, *writes: Mapping[str, Any], **final: Any) -> dict[str, Any]:
    return {
        "id": name,
        "user_id": "kim",
        "gold_write_actions": writes,
        "gold_action_errors": [],
        "expected_final": {"orders": {}, "users": {}, **final},
    }


TASKS = [
    task("cancel", CANCEL, orders={"#W1": cancelled()}, users={"kim": user(12.5)}),
    task("move", MOVE, users={"kim": user(city="Austin")}),
    task("twice", CANCEL, CANCEL, orders={"#W1": cancelled()}),
    {**task("broken", CANCEL), "gold_action_errors": ["no balance"]},
]
# Somebody else, whose order the replay tries to read.
OTHER = {**DATABASE["users"]["kim"], "user_id": "bo", "orders": ["#W9"]}
OTHER = {**OTHER, "payment_methods": {}}
WORLD = {
    **DATABASE,
    "users": {**DATABASE["users"], "bo": OTHER},
    "orders": {
        **DATABASE["orders"],
        "#W9": {
            **DATABASE["orders"]["#W1"],
            "order_id": "#W9",
            "user_id": "bo",
            "payment_history": [],
        },
    },
}


def replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], faults: str = ""
) -> dict[str, Any]:
    files = {"db": tmp_path / "db.json", "tasks": tmp_path / "tasks.jsonl"}
    files["db"].write_text(json.dumps(WORLD))
    files["tasks"].write_text("\n".join(json.dumps(one) for one in TASKS))
    options = {name: str(path) for name, path in files.items()}
    code = retail.run({**options, "faults": faults, "limit": 0, "json": True})
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == 1  # the task that is wrong on purpose
    return report


def test_the_replay_tells_equal_from_different_and_skips_what_it_must(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = replay(tmp_path, capsys)
    assert (report["tasks"], report["equal"]) == (4, 2)
    assert list(report["differ"]) == ["twice"]
    assert list(report["skipped"]) == ["broken"]
    assert report["foreign_reads"] == 0


def test_no_fault_makes_a_change_twice_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = replay(tmp_path, capsys, "double,kill,timeout")
    assert report["equal"] == 2
    assert report["double_effects"] == 0
    assert report["repeats_absorbed"] > 0
    assert report["faults"]["double"] > 0
    assert sum(report["faults"].values()) > report["faults"]["double"]


def test_an_unknown_fault_is_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"faults": "meteor", "tasks": "x", "db": "y"}
    assert retail.run(options) == 2
    assert "meteor" in capsys.readouterr().out


def test_amounts_are_compared_to_the_cent_and_everything_else_exactly() -> None:
    assert different({"a": 1.001}, {"a": 1.0}) == []
    assert different({"a": [1.0, "x"]}, {"a": [2.0, "x"]}) == [
        "/a/0: expected 1.0, found 2.0"
    ]
    assert different({"a": 1}, {}) == ["/a: expected 1, found None"]
