"""Where the demo shop's parcels come from, go to, and pass on the way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place as the people there write it, and its IANA time zone."""

    name: str
    time_zone: str = "Asia/Shanghai"


@dataclass(frozen=True, slots=True)
class Town:
    """Where a customer lives, and the last sorting centre before it.

    ``days`` is how long a parcel usually takes from the warehouse.
    """

    place: Place
    hub: Place
    state: str
    zip: str
    country: str
    days: int
    streets: tuple[str, ...]
    phone: str = "139"
    gateway: Place | None = None

    @property
    def abroad(self) -> bool:
        return self.gateway is not None


WAREHOUSE = Place("杭州余杭仓")
FIRST_HUB = Place("杭州转运中心")
EXPORT = Place("上海浦东口岸")

_CN = (
    ("上海", "上海", "200120", 1, "上海浦东分拨中心",
     ("浦东新区张杨路 1188 号 602 室", "徐汇区肇嘉浜路 789 号")),
    ("南京", "江苏", "210008", 1, "南京江宁分拨中心", ("鼓楼区汉口路 22 号 3 幢 501",)),
    ("宁波", "浙江", "315010", 1, "宁波转运中心", ("海曙区解放南路 67 号",)),
    ("武汉", "湖北", "430072", 2, "武汉转运中心", ("武昌区珞喻路 129 号 8 栋 1203",)),
    ("北京", "北京", "100086", 2, "北京顺义分拨中心",
     ("海淀区知春路 6 号 1502 室", "朝阳区建国路 88 号 C 座")),
    ("广州", "广东", "510620", 2, "广州白云分拨中心", ("天河区体育西路 103 号",)),
    ("深圳", "广东", "518057", 2, "深圳宝安转运中心", ("南山区科苑路 15 号 A 栋",)),
    ("厦门", "福建", "361005", 2, "厦门转运中心", ("思明区思明南路 422 号",)),
    ("长沙", "湖南", "410006", 2, "长沙转运中心", ("岳麓区麓山南路 932 号",)),
    ("西安", "陕西", "710065", 3, "西安转运中心", ("雁塔区高新路 52 号 2 单元",)),
    ("成都", "四川", "610041", 3, "成都双流转运中心", ("武侯区人民南路四段 9 号",)),
    ("沈阳", "辽宁", "110004", 3, "沈阳转运中心", ("和平区文化路 3 号",)),
    ("昆明", "云南", "650031", 4, "昆明转运中心", ("五华区翠湖北路 2 号",)),
    ("乌鲁木齐", "新疆", "830046", 7, "乌鲁木齐转运中心", ("天山区胜利路 14 号",)),
)  # fmt: skip

_ABROAD = (
    ("Seattle", "WA", "98101", "USA", "America/Los_Angeles", "Seattle, WA hub",
     "Los Angeles, CA gateway", ("1411 4th Ave, Apt 12", "902 Pike St")),
    ("Austin", "TX", "78701", "USA", "America/Chicago", "Dallas, TX hub",
     "Los Angeles, CA gateway", ("600 Congress Ave, Suite 1400",)),
    ("New York", "NY", "10012", "USA", "America/New_York", "Newark, NJ hub",
     "New York JFK gateway", ("87 Mercer St, Apt 5B",)),
    ("Toronto", "ON", "M5V 2T6", "Canada", "America/Toronto", "Mississauga hub",
     "Toronto Pearson gateway", ("20 Blue Jays Way, Unit 906",)),
    ("London", "England", "E1 6AN", "United Kingdom", "Europe/London",
     "London East depot", "East Midlands gateway", ("14 Fournier Street",)),
    ("Manchester", "England", "M1 4BT", "United Kingdom", "Europe/London",
     "Manchester depot", "East Midlands gateway", ("55 Dale Street, Flat 3",)),
    ("Berlin", "Berlin", "10119", "Germany", "Europe/Berlin", "Berlin depot",
     "Leipzig gateway", ("Torstraße 141",)),
    ("Paris", "Île-de-France", "75011", "France", "Europe/Paris", "Paris Nord depot",
     "Paris CDG gateway", ("32 rue Oberkampf",)),
    ("Sydney", "NSW", "2010", "Australia", "Australia/Sydney", "Sydney West depot",
     "Sydney gateway", ("210 Crown Street",)),
    ("Singapore", "", "238823", "Singapore", "Asia/Singapore", "Changi depot",
     "Singapore Changi gateway", ("391 Orchard Road, #12-04",)),
)  # fmt: skip

TOWNS_CN = tuple(
    Town(Place(f"{name}市"), Place(hub), state, zip_code, "中国", days, streets)
    for name, state, zip_code, days, hub, streets in _CN
)
TOWNS_ABROAD = tuple(
    Town(
        Place(name, zone), Place(hub, zone), state, zip_code, country, 10, streets,
        phone="555", gateway=Place(gateway, zone),
    )
    for name, state, zip_code, country, zone, hub, gateway, streets in _ABROAD
)  # fmt: skip
# Lin's and Mei's home towns.
CHENGDU = next(town for town in TOWNS_CN if town.place.name == "成都市")
SHANGHAI = next(town for town in TOWNS_CN if town.place.name == "上海市")
# The hub half-way to a town in the west of the country.
MIDDLE_HUB = Place("武汉转运中心")
