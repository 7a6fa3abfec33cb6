"""The words of the demo shop: people, goods, carriers and the roads between cities."""

from __future__ import annotations

from dataclasses import dataclass

CURRENCY = "CNY"


@dataclass(frozen=True, slots=True)
class City:
    zh: str
    en: str
    state: str
    zip: str
    hub_zh: str
    hub_en: str


CITIES = (
    City("杭州", "Hangzhou", "浙江", "310000", "杭州转运中心", "Hangzhou transit hub"),
    City(
        "上海", "Shanghai", "上海", "200000", "上海浦东分拨中心", "Shanghai Pudong hub"
    ),
    City("武汉", "Wuhan", "湖北", "430000", "武汉转运中心", "Wuhan transit hub"),
    City("广州", "Guangzhou", "广东", "510000", "广州白云分拨中心", "Guangzhou hub"),
    City(
        "成都", "Chengdu", "四川", "610000", "成都双流转运中心", "Chengdu transit hub"
    ),
    City("北京", "Beijing", "北京", "100000", "北京顺义分拨中心", "Beijing Shunyi hub"),
    City("西安", "Xi'an", "陕西", "710000", "西安转运中心", "Xi'an transit hub"),
    City("南京", "Nanjing", "江苏", "210000", "南京江宁分拨中心", "Nanjing hub"),
    City(
        "深圳", "Shenzhen", "广东", "518000", "深圳宝安转运中心", "Shenzhen Bao'an hub"
    ),
    City("长沙", "Changsha", "湖南", "410000", "长沙转运中心", "Changsha transit hub"),
)

# Code, English name, Chinese name, prefix and digits of its numbers, tracking page.
CARRIERS = (
    ("sf", "SF Express", "顺丰速运", "SF", 13,
     "https://www.sf-express.com/chn/sc/waybill/waybill-detail/{number}"),
    ("zto", "ZTO Express", "中通快递", "78", 11,
     "https://www.zto.com/express/expressCheck.html?txtBill={number}"),
    ("yto", "YTO Express", "圆通速递", "YT", 13,
     "https://www.yto.net.cn/tracesimple.html?number={number}"),
    ("jd", "JD Logistics", "京东物流", "JD", 13,
     "https://www.jdl.com/#/home?waybillCodes={number}"),
    ("ems", "China Post EMS", "中国邮政 EMS", "EA", 11,
     "https://www.ems.com.cn/queryList?mailNo={number}"),
)  # fmt: skip

# English name, Chinese name, price in minor units, option name and its values.
PRODUCTS = (
    ("Celadon teapot", "青瓷茶壶", 19900, "colour", ("jade", "sky", "moon white")),
    ("Gaiwan set", "盖碗套装", 12900, "size", ("100 ml", "150 ml")),
    ("Jasmine tea, 250 g", "茉莉花茶 250 克", 6800, "grade", ("classic", "premium")),
    ("Longjing tea, 100 g", "龙井茶 100 克", 16800, "harvest", ("pre-rain", "spring")),
    ("Bamboo tea tray", "竹制茶盘", 15800, "length", ("40 cm", "55 cm")),
    ("Pu'er cake, 357 g", "普洱茶饼 357 克", 23800, "year", ("2019", "2022")),
    ("Travel tea set", "便携旅行茶具", 9900, "colour", ("black", "sand", "sage")),
    ("Electric kettle", "电热水壶", 25900, "capacity", ("0.8 l", "1.2 l")),
    ("Linen table runner", "亚麻桌旗", 7900, "colour", ("natural", "indigo")),
    ("Stoneware mug", "粗陶马克杯", 4900, "colour", ("ash", "rust", "ink")),
    ("Walnut tray", "胡桃木托盘", 13900, "size", ("small", "large")),
    ("Incense burner", "香炉", 8800, "finish", ("bronze", "black")),
    ("Sandalwood incense", "檀香线香", 3900, "sticks", ("40", "80")),
    ("Silk scarf", "真丝丝巾", 29900, "pattern", ("crane", "peony", "plain")),
    ("Cotton pyjamas", "纯棉睡衣", 18900, "size", ("S", "M", "L", "XL")),
    ("Wool blanket", "羊毛毯", 39900, "colour", ("cream", "charcoal")),
    ("Down pillow", "羽绒枕", 21900, "firmness", ("soft", "medium")),
    ("Linen bed set", "亚麻四件套", 69900, "size", ("1.5 m", "1.8 m")),
    ("Ceramic vase", "陶瓷花瓶", 11900, "height", ("20 cm", "30 cm")),
    ("Dried eucalyptus", "尤加利干花", 2900, "bunch", ("small", "large")),
    ("Desk lamp", "护眼台灯", 32900, "colour", ("white", "graphite")),
    ("Notebook, dotted", "点阵笔记本", 3500, "cover", ("kraft", "navy")),
    ("Fountain pen", "钢笔", 15900, "nib", ("EF", "F", "M")),
    ("Ink, 30 ml", "墨水 30 毫升", 4500, "colour", ("blue-black", "pine", "plum")),
    ("Calligraphy set", "书法套装", 16900, "brushes", ("3", "5")),
    ("Canvas tote", "帆布手提袋", 5900, "colour", ("natural", "black")),
    ("Leather card holder", "真皮卡包", 11900, "colour", ("tan", "black")),
    ("Umbrella", "晴雨伞", 8900, "colour", ("navy", "olive")),
    ("Thermos, 500 ml", "保温杯 500 毫升", 13900, "colour", ("white", "green")),
    ("Lunch box", "便当盒", 7500, "layers", ("1", "2")),
    ("Chef's knife", "主厨刀", 28900, "length", ("18 cm", "21 cm")),
    ("Cutting board", "砧板", 9900, "wood", ("beech", "ebony")),
    ("Cast iron wok", "铸铁炒锅", 26900, "size", ("28 cm", "32 cm")),
    ("Clay pot", "砂锅", 12900, "capacity", ("2 l", "3.5 l")),
    ("Rice bowl, set of 4", "饭碗四只装", 8900, "glaze", ("white", "celadon")),
    ("Chopsticks, 5 pairs", "筷子五双装", 5900, "wood", ("wenge", "bamboo")),
    ("Soy sauce, 500 ml", "酱油 500 毫升", 3200, "kind", ("light", "dark")),
    ("Chilli oil", "辣椒油", 2800, "heat", ("mild", "hot")),
    ("Dried mushrooms", "干香菇", 4600, "weight", ("150 g", "300 g")),
    ("Osmanthus honey", "桂花蜜", 5200, "weight", ("250 g", "500 g")),
    ("Facial towel", "洗脸巾", 2600, "pack", ("1", "3")),
    ("Bath towel", "浴巾", 6900, "colour", ("white", "grey", "blush")),
    ("Hand soap", "洗手皂", 2400, "scent", ("green tea", "pomelo")),
    ("Lip balm", "润唇膏", 3600, "scent", ("plain", "rose")),
    ("Hand cream", "护手霜", 4900, "scent", ("osmanthus", "none")),
    ("Yoga mat", "瑜伽垫", 15900, "thickness", ("4 mm", "6 mm")),
    ("Skipping rope", "跳绳", 3900, "length", ("2.8 m", "3 m")),
    ("Running socks", "跑步袜", 2900, "size", ("S", "M", "L")),
    ("Baseball cap", "棒球帽", 6900, "colour", ("black", "stone")),
    ("Rain jacket", "轻薄雨衣", 25900, "size", ("S", "M", "L")),
    ("Wireless mouse", "无线鼠标", 9900, "colour", ("white", "black")),
    ("Keyboard", "机械键盘", 36900, "switch", ("linear", "tactile")),
    ("Headphones", "头戴式耳机", 49900, "colour", ("black", "silver")),
    ("Phone stand", "手机支架", 4900, "colour", ("silver", "black")),
    ("Charging cable", "充电线", 3900, "length", ("1 m", "2 m")),
    ("Power bank", "充电宝", 14900, "capacity", ("10000 mAh", "20000 mAh")),
    ("Night light", "小夜灯", 5900, "colour", ("warm", "white")),
    ("Puzzle, 1000 pieces", "拼图 1000 片", 8900, "motif", ("river", "garden")),
    ("Wooden blocks", "积木", 12900, "pieces", ("60", "120")),
    ("Plush panda", "熊猫玩偶", 7900, "size", ("30 cm", "50 cm")),
)

# The customers beside Lin and Mei: id, name, language, time zone.
NAMES_ZH = (
    "王芳", "李强", "张敏", "刘洋", "陈静", "杨帆", "赵磊", "黄丽", "周杰", "吴倩",
    "徐涛", "孙悦", "马超", "朱琳", "胡斌", "郭晓", "何蕾", "高翔", "林峰", "罗娜",
)  # fmt: skip
NAMES_EN = (
    "Emma Clarke", "Noah Weber", "Olivia Rossi", "Liam Murphy", "Ava Dubois",
    "Lucas Silva", "Mia Novak", "Ethan Brown", "Sofia Garcia", "Daniel Kim",
    "Chloe Martin", "Oscar Nilsson", "Isla Campbell", "Leo Fischer", "Nora Haugen",
    "Hugo Laurent", "Amara Okafor", "Ravi Sharma",
)  # fmt: skip
STREETS_ZH = (
    "文三路 188 号",
    "中山北路 56 号",
    "人民大道 9 号",
    "解放路 320 号",
    "学院路 71 号",
)
NOTES = (
    "",
    "",
    "",
    "",
    "Please ring the bell.",
    "请放门口，谢谢。",
    "Gift, no invoice please.",
)

# What a carrier says at each stage: English, Chinese.
EVENT_TEXT = {
    "picked_up": ("Picked up by the courier", "快件已被揽收"),
    "in_transit": ("Arrived at the sorting centre", "快件已到达转运中心"),
    "out_for_delivery": ("Out for delivery", "快件正在派送"),
    "delivered": ("Delivered, signed for", "快件已签收"),
    "delivery_failed": (
        "Delivery attempt failed, nobody at home",
        "派送未成功，无人在家",
    ),
    "returning": ("On the way back to the sender", "快件正在退回"),
}
