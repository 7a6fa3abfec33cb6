"""Names and addresses as keyed digests: what is counted by them tells nobody whose."""

from __future__ import annotations

import ipaddress

from django.utils.crypto import salted_hmac


def digest(purpose: str, value: str) -> str:
    """The same for the same value and purpose, and for no other purpose's."""
    return salted_hmac(purpose, value.casefold(), algorithm="sha256").hexdigest()


def address_digest(purpose: str, address: str) -> str:
    """The same for all addresses of one caller."""
    return digest(purpose, network(address))


def network(address: str) -> str:
    """An IPv6 caller owns a whole /64; of IPv4 it is the address itself."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))
