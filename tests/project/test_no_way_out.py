from __future__ import annotations

import socket

import httpx2
import pytest
from openai import AsyncOpenAI

from tests.conftest import OutsideWorld


@pytest.mark.parametrize("address", [("203.0.113.1", 443), ("::ffff:203.0.113.1", 443)])
def test_no_connection_leaves_this_machine(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as one, pytest.raises(OutsideWorld):
        one.connect(address)


def test_no_name_is_looked_up() -> None:
    with pytest.raises(OutsideWorld):
        httpx2.get("https://api.openai.com/v1/models")


async def test_no_real_model_is_called() -> None:
    async with AsyncOpenAI(api_key="k", base_url="https://api.openai.com/v1") as client:
        with pytest.raises(OutsideWorld):
            await client.models.list()
