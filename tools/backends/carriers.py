"""The carriers that parcels go with, and where each one's own tracking page is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class CarrierInfo:
    """``tracking_url`` has ``{number}`` where the parcel's number goes."""

    name: str
    name_zh: str
    tracking_url: str


CARRIERS: Mapping[str, CarrierInfo] = {
    "sf": CarrierInfo(
        "SF Express",
        "顺丰速运",
        "https://www.sf-express.com/chn/sc/waybill/waybill-detail/{number}",
    ),
    "zto": CarrierInfo(
        "ZTO Express",
        "中通快递",
        "https://www.zto.com/express/expressCheck.html?txtBill={number}",
    ),
    "yto": CarrierInfo(
        "YTO Express",
        "圆通速递",
        "https://www.yto.net.cn/tracesimple.html?number={number}",
    ),
    "jd": CarrierInfo(
        "JD Logistics", "京东物流", "https://www.jdl.com/#/home?waybillCodes={number}"
    ),
    "ems": CarrierInfo(
        "China Post EMS",
        "中国邮政 EMS",
        "https://www.ems.com.cn/queryList?mailNo={number}",
    ),
    "dhl": CarrierInfo(
        "DHL Express",
        "DHL 国际快递",
        "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}",
    ),
    "ups": CarrierInfo("UPS", "UPS", "https://www.ups.com/track?tracknum={number}"),
    "fedex": CarrierInfo(
        "FedEx", "联邦快递", "https://www.fedex.com/fedextrack/?trknbr={number}"
    ),
    "usps": CarrierInfo(
        "USPS",
        "美国邮政",
        "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}",
    ),
}

# A link that a customer may follow leads to one of these hosts, or there is no link:
# whoever can write into the shop's data must not choose where customers go.
TRUSTED_HOSTS = frozenset(
    urlsplit(carrier.tracking_url).netloc for carrier in CARRIERS.values()
)


def tracking_link(template: str, number: str) -> str:
    """The page of one parcel; the number is quoted, for a person may have typed it."""
    return template.replace("{number}", quote(number, safe=""))


def trusted_link(url: str | None) -> str | None:
    """``url``, if it is a plain https address of a carrier's host; else None."""
    if not url or any(character.isspace() or character == "\\" for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme == "https" and parts.netloc in TRUSTED_HOSTS else None
