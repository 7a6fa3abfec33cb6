from __future__ import annotations

import httpx2
import pytest

from tests.servers.product import Product

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "object-src": "'none'",
    "frame-ancestors": "'none'",
    "report-to": "csp",
}


def policy_of(answer: httpx2.Response) -> dict[str, str]:
    parts = answer.headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


@pytest.mark.parametrize("path", ["/admin/login/", "/no-such-page/"])
def test_each_page_says_what_a_browser_may_do(demo_server: Product, path: str) -> None:
    answer = demo_server.get(path)
    policy = policy_of(answer)
    asked_for = policy.pop("require-trusted-types-for", None)
    # The admin's jQuery writes HTML.
    assert asked_for == (None if path.startswith("/admin/") else "'script'")
    sockets = f"'self' ws://127.0.0.1:{demo_server.port}"
    assert policy == {**POLICY, "connect-src": sockets}
    for name, value in {
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
        "reporting-endpoints": 'csp="/csp-report/"',
    }.items():
        assert answer.headers[name] == value
    assert "no-store" in answer.headers["cache-control"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_static_files_are_open_to_this_origin_alone(demo_server: Product) -> None:
    answer = demo_server.get(
        "/static/admin/css/base.css", Origin="https://evil.example"
    )
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/static/../chatbot/settings.py", "/static/%2e%2e/x"])
def test_static_files_end_at_their_folder(demo_server: Product, path: str) -> None:
    assert demo_server.get(path).status_code == 404


def test_an_unknown_host_is_refused(demo_server: Product) -> None:
    assert demo_server.get("/admin/login/", Host="evil.example").status_code == 400


def test_cookies_of_the_demo_are_closed_to_scripts(demo_server: Product) -> None:
    cookie = demo_server.get("/admin/login/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("size", [65_536, 65_537])
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_64_kib_is_refused_whether_declared_or_not(
    demo_server: Product, size: int, declared: bool
) -> None:
    body = b"x" * size
    content = body if declared else iter([body[:40_000], body[40_000:]])
    answer = httpx2.post(demo_server.url + "/csp-report/", content=content)
    # Within the limit the view reads it, and finds no report in it.
    assert answer.status_code == (400 if size == 65_536 else 413)


def test_a_blocked_thing_is_noted_without_the_text_of_its_page(
    demo_server: Product,
) -> None:
    body = {"effectiveDirective": "img-src", "blockedURL": "https://evil.example/a.png"}
    report = {"type": "csp-violation", "body": {**body, "sample": "canary-text"}}
    answer = httpx2.post(demo_server.url + "/csp-report/", json=[report])
    assert answer.status_code == 204
    assert "img-src" in demo_server.web.output
    assert "canary-text" not in demo_server.web.output


@pytest.mark.parametrize("body", ["[", "1", "null", '"x"', "[1]", '[{"body": 1}]'])
def test_a_report_that_is_none_does_no_harm(demo_server: Product, body: str) -> None:
    answer = httpx2.post(demo_server.url + "/csp-report/", content=body)
    assert answer.status_code in {204, 400}
