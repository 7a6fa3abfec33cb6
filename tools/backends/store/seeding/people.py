"""The demo shop's customers, beside Lin and Mei; and what people write into a note."""

from __future__ import annotations

from tools.backends.store.seeding.places import TOWNS_ABROAD, TOWNS_CN, Town

# Family name and given name.
_IN_CHINA = (
    ("王", "芳"), ("李", "强"), ("张", "敏"), ("刘", "洋"), ("陈", "静"), ("杨", "帆"),
    ("赵", "磊"), ("黄", "丽"), ("周", "杰"), ("吴", "倩"), ("徐", "涛"), ("孙", "悦"),
    ("马", "超"), ("朱", "琳"), ("胡", "斌"), ("郭", "晓雯"), ("何", "蕾"),
    ("高", "翔"), ("罗", "娜"), ("欧阳", "明"), ("梁", "思远"), ("宋", "雨桐"),
)  # fmt: skip
_ABROAD = (
    ("Clarke", "Emma"), ("Weber", "Noah"), ("Rossi", "Olivia"), ("Murphy", "Liam"),
    ("Dubois", "Ava"), ("Silva", "Lucas"), ("Novak", "Mia"), ("Brown", "Ethan"),
    ("García", "Sofía"), ("Kim", "Daniel"), ("Martin", "Chloé"), ("O'Brien", "Oscar"),
    ("Tan", "Wei Ling"), ("Okafor", "Amara"), ("Sharma", "Ravi"), ("Nguyen", "Linh"),
)  # fmt: skip

# Customer's id, family name, given name, language, home town.
PEOPLE: tuple[tuple[str, str, str, str, Town], ...] = tuple(
    (f"C-{number:03}", family, given, "zh", TOWNS_CN[number % len(TOWNS_CN)])
    for number, (family, given) in enumerate(_IN_CHINA, start=1)
) + tuple(
    (f"C-{number:03}", family, given, "en", TOWNS_ABROAD[number % len(TOWNS_ABROAD)])
    for number, (family, given) in enumerate(_ABROAD, start=101)
)

NOTES = {
    "zh": ("", "", "", "", "请放门口，谢谢。", "工作日送货，周末不在。",
           "送前先打电话。", "贺卡：生日快乐！"),
    "en": ("", "", "", "", "Please ring the bell.", "Leave it with the concierge.",
           "card: Happy birthday, Mum!"),
}  # fmt: skip
