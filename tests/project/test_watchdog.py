from __future__ import annotations

from chatbot.watchdog import Watchdog


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_worker_is_deaf_when_tasks_wait_and_none_comes() -> None:
    clock = Clock()
    watchdog = Watchdog(patience=60, clock=clock)
    assert not watchdog.is_deaf(3)
    clock.now += 60
    assert not watchdog.is_deaf(3)
    clock.now += 0.1
    assert watchdog.is_deaf(1)


def test_a_task_that_comes_begins_the_wait_anew() -> None:
    clock = Clock()
    watchdog = Watchdog(patience=60, clock=clock)
    assert not watchdog.is_deaf(3)
    clock.now += 59
    watchdog.hear()
    clock.now += 59
    assert not watchdog.is_deaf(3)
    clock.now += 61
    assert watchdog.is_deaf(3)


def test_an_empty_queue_says_nothing() -> None:
    clock = Clock()
    watchdog = Watchdog(patience=60, clock=clock)
    for _ in range(10):
        assert not watchdog.is_deaf(0)
        clock.now += 1000
    assert not watchdog.is_deaf(1)
