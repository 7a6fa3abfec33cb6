"""The README says what the report says."""

from __future__ import annotations

import json

from tests.assurance.readme import rows
from tests.assurance.report import REPORT
from tests.servers.product import ROOT


def test_the_readme_quotes_the_report_and_nothing_else() -> None:
    report = json.loads(REPORT.read_text("utf-8"))
    readme = (ROOT / "README.md").read_text("utf-8")
    _, _, table = readme.partition("| provoked | counted |\n|---|---|\n")
    quoted, _, _ = table.partition("\n\n")
    assert quoted.splitlines() == rows(report)


def test_the_report_is_of_a_whole_run_that_passed() -> None:
    for name, scenario in json.loads(REPORT.read_text("utf-8")).items():
        assert (name, scenario["passed"], scenario["scale"]) == (name, True, 1.0)
