"""Names of places, in Chinese and in Latin letters, that an answer could invent.

Chinese provinces and prefecture-level cities, and cities of the world with much mail.
Names that are common words ("Nice", "Reading", "Mobile") are left out: the patterns of
``places`` catch them where a sentence uses them as places.
"""

from __future__ import annotations

from collections.abc import Mapping

_PAIRS = """
北京 Beijing|上海 Shanghai|天津 Tianjin|重庆 Chongqing|广州 Guangzhou|深圳 Shenzhen
东莞 Dongguan|佛山 Foshan|珠海 Zhuhai|中山 Zhongshan|惠州 Huizhou|汕头 Shantou
江门 Jiangmen|湛江 Zhanjiang|茂名 Maoming|肇庆 Zhaoqing|清远 Qingyuan|揭阳 Jieyang
潮州 Chaozhou|韶关 Shaoguan|梅州 Meizhou|河源 Heyuan|阳江 Yangjiang|云浮 Yunfu
汕尾 Shanwei|杭州 Hangzhou|宁波 Ningbo|温州 Wenzhou|嘉兴 Jiaxing|湖州 Huzhou
绍兴 Shaoxing|金华 Jinhua|义乌 Yiwu|台州 Taizhou|衢州 Quzhou|丽水 Lishui|舟山 Zhoushan
南京 Nanjing|苏州 Suzhou|无锡 Wuxi|常州 Changzhou|南通 Nantong|扬州 Yangzhou
镇江 Zhenjiang|徐州 Xuzhou|盐城 Yancheng|淮安 Huaian|连云港 Lianyungang|泰州 Taizhou
宿迁 Suqian|昆山 Kunshan|合肥 Hefei|芜湖 Wuhu|蚌埠 Bengbu|安庆 Anqing|马鞍山 Maanshan
阜阳 Fuyang|滁州 Chuzhou|宿州 Suzhou|亳州 Bozhou|六安 Luan|淮南 Huainan|淮北 Huaibei
铜陵 Tongling|宣城 Xuancheng|池州 Chizhou|武汉 Wuhan|宜昌 Yichang|襄阳 Xiangyang
荆州 Jingzhou|黄石 Huangshi|十堰 Shiyan|孝感 Xiaogan|黄冈 Huanggang|荆门 Jingmen
鄂州 Ezhou|咸宁 Xianning|随州 Suizhou|恩施 Enshi|长沙 Changsha|株洲 Zhuzhou
湘潭 Xiangtan|衡阳 Hengyang|岳阳 Yueyang|常德 Changde|郴州 Chenzhou|邵阳 Shaoyang
益阳 Yiyang|娄底 Loudi|怀化 Huaihua|永州 Yongzhou|张家界 Zhangjiajie|郑州 Zhengzhou
洛阳 Luoyang|开封 Kaifeng|新乡 Xinxiang|南阳 Nanyang|许昌 Xuchang|安阳 Anyang
商丘 Shangqiu|信阳 Xinyang|周口 Zhoukou|驻马店 Zhumadian|平顶山 Pingdingshan
焦作 Jiaozuo|濮阳 Puyang|漯河 Luohe|三门峡 Sanmenxia|鹤壁 Hebi|济南 Jinan|青岛 Qingdao
烟台 Yantai|潍坊 Weifang|临沂 Linyi|淄博 Zibo|济宁 Jining|威海 Weihai|泰安 Taian
菏泽 Heze|德州 Dezhou|聊城 Liaocheng|枣庄 Zaozhuang|滨州 Binzhou|东营 Dongying
石家庄 Shijiazhuang|唐山 Tangshan|保定 Baoding|邯郸 Handan|廊坊 Langfang|沧州 Cangzhou
邢台 Xingtai|衡水 Hengshui|张家口 Zhangjiakou|承德 Chengde|秦皇岛 Qinhuangdao
太原 Taiyuan|临汾 Linfen|运城 Yuncheng|长治 Changzhi|晋城 Jincheng|晋中 Jinzhong
吕梁 Lvliang|西安 Xian|咸阳 Xianyang|宝鸡 Baoji|渭南 Weinan|汉中 Hanzhong|榆林 Yulin
延安 Yanan|商洛 Shangluo|成都 Chengdu|绵阳 Mianyang|德阳 Deyang|宜宾 Yibin|南充 Nanchong
泸州 Luzhou|乐山 Leshan|达州 Dazhou|内江 Neijiang|遂宁 Suining|广安 Guangan
广元 Guangyuan|眉山 Meishan|攀枝花 Panzhihua|雅安 Yaan|昆明 Kunming|曲靖 Qujing
玉溪 Yuxi|大理 Dali|丽江 Lijiang|贵阳 Guiyang|遵义 Zunyi|毕节 Bijie|六盘水 Liupanshui
南宁 Nanning|柳州 Liuzhou|桂林 Guilin|北海 Beihai|玉林 Yulin|梧州 Wuzhou|钦州 Qinzhou
百色 Baise|贵港 Guigang|海口 Haikou|三亚 Sanya|南昌 Nanchang|赣州 Ganzhou|九江 Jiujiang
上饶 Shangrao|宜春 Yichun|景德镇 Jingdezhen|萍乡 Pingxiang|新余 Xinyu|抚州 Fuzhou
福州 Fuzhou|厦门 Xiamen|泉州 Quanzhou|漳州 Zhangzhou|莆田 Putian|龙岩 Longyan
宁德 Ningde|南平 Nanping|沈阳 Shenyang|大连 Dalian|鞍山 Anshan|抚顺 Fushun|锦州 Jinzhou
营口 Yingkou|丹东 Dandong|葫芦岛 Huludao|盘锦 Panjin|长春 Changchun|吉林 Jilin
四平 Siping|延边 Yanbian|哈尔滨 Harbin|齐齐哈尔 Qiqihar|大庆 Daqing|牡丹江 Mudanjiang
佳木斯 Jiamusi|呼和浩特 Hohhot|包头 Baotou|鄂尔多斯 Ordos|赤峰 Chifeng|通辽 Tongliao
兰州 Lanzhou|天水 Tianshui|酒泉 Jiuquan|西宁 Xining|银川 Yinchuan|乌鲁木齐 Urumqi
喀什 Kashgar|克拉玛依 Karamay|拉萨 Lhasa|香港 Hong Kong|澳门 Macau|台北 Taipei
高雄 Kaohsiung|台中 Taichung|广东 Guangdong|浙江 Zhejiang|江苏 Jiangsu|山东 Shandong
河南 Henan|河北 Hebei|湖北 Hubei|湖南 Hunan|四川 Sichuan|福建 Fujian|安徽 Anhui
江西 Jiangxi|陕西 Shaanxi|山西 Shanxi|辽宁 Liaoning|黑龙江 Heilongjiang|云南 Yunnan
贵州 Guizhou|广西 Guangxi|海南 Hainan|甘肃 Gansu|青海 Qinghai|宁夏 Ningxia|新疆 Xinjiang
西藏 Tibet|内蒙古 Inner Mongolia|台湾 Taiwan|浦东 Pudong|虹桥 Hongqiao|萧山 Xiaoshan
白云 Baiyun|顺德 Shunde|里昂 Lyon|巴黎 Paris|马赛 Marseille|里尔 Lille|波尔多 Bordeaux
图卢兹 Toulouse|伦敦 London|曼彻斯特 Manchester|伯明翰 Birmingham|利物浦 Liverpool
爱丁堡 Edinburgh|格拉斯哥 Glasgow|都柏林 Dublin|柏林 Berlin|慕尼黑 Munich|汉堡 Hamburg
法兰克福 Frankfurt|科隆 Cologne|莱比锡 Leipzig|斯图加特 Stuttgart|杜塞尔多夫 Düsseldorf
维也纳 Vienna|苏黎世 Zurich|日内瓦 Geneva|阿姆斯特丹 Amsterdam|鹿特丹 Rotterdam
布鲁塞尔 Brussels|安特卫普 Antwerp|列日 Liège|卢森堡 Luxembourg|马德里 Madrid
巴塞罗那 Barcelona|瓦伦西亚 Valencia|里斯本 Lisbon|波尔图 Porto|罗马 Rome|米兰 Milan
都灵 Turin|那不勒斯 Naples|雅典 Athens|华沙 Warsaw|布拉格 Prague|布达佩斯 Budapest
布加勒斯特 Bucharest|索非亚 Sofia|斯德哥尔摩 Stockholm|哥本哈根 Copenhagen|奥斯陆 Oslo
赫尔辛基 Helsinki|莫斯科 Moscow|圣彼得堡 Saint Petersburg|基辅 Kyiv|伊斯坦布尔 Istanbul
迪拜 Dubai|阿布扎比 Abu Dhabi|多哈 Doha|利雅得 Riyadh|特拉维夫 Tel Aviv|开罗 Cairo
约翰内斯堡 Johannesburg|开普敦 Cape Town|内罗毕 Nairobi|拉各斯 Lagos|东京 Tokyo
大阪 Osaka|名古屋 Nagoya|横滨 Yokohama|福冈 Fukuoka|首尔 Seoul|釜山 Busan|仁川 Incheon
新加坡 Singapore|吉隆坡 Kuala Lumpur|曼谷 Bangkok|雅加达 Jakarta|马尼拉 Manila
河内 Hanoi|胡志明市 Ho Chi Minh City|孟买 Mumbai|新德里 New Delhi|德里 Delhi
班加罗尔 Bangalore|金奈 Chennai|悉尼 Sydney|墨尔本 Melbourne|布里斯班 Brisbane
珀斯 Perth|奥克兰 Auckland|纽约 New York|洛杉矶 Los Angeles|芝加哥 Chicago
旧金山 San Francisco|西雅图 Seattle|波士顿 Boston|休斯敦 Houston|达拉斯 Dallas
迈阿密 Miami|亚特兰大 Atlanta|费城 Philadelphia|丹佛 Denver|拉斯维加斯 Las Vegas
底特律 Detroit|孟菲斯 Memphis|路易斯维尔 Louisville|圣地亚哥 San Diego|奥斯汀 Austin
凤凰城 Phoenix|多伦多 Toronto|温哥华 Vancouver|蒙特利尔 Montreal|卡尔加里 Calgary
渥太华 Ottawa|墨西哥城 Mexico City|圣保罗 São Paulo|里约热内卢 Rio de Janeiro
布宜诺斯艾利斯 Buenos Aires|波哥大 Bogotá|利马 Lima|内华达 Nevada|加利福尼亚 California
得克萨斯 Texas|佛罗里达 Florida|俄亥俄 Ohio|新泽西 New Jersey|肯塔基 Kentucky
法国 France|德国 Germany|英国 United Kingdom|西班牙 Spain|意大利 Italy|荷兰 Netherlands
比利时 Belgium|波兰 Poland|瑞士 Switzerland|日本 Japan|韩国 Korea|印度 India
澳大利亚 Australia|加拿大 Canada|墨西哥 Mexico|巴西 Brazil|泰国 Thailand|越南 Vietnam
马来西亚 Malaysia
"""
# Places that one language writes in more than one way.
_ALSO = {
    "Xi'an": "西安", "Hongkong": "香港", "Macao": "澳门", "Zürich": "苏黎世",
    "Dusseldorf": "杜塞尔多夫", "Liege": "列日", "Köln": "科隆", "München": "慕尼黑",
    "Orly": "奥利", "NYC": "纽约", "Sao Paulo": "圣保罗", "Bogota": "波哥大",
    "Bengaluru": "班加罗尔", "Peking": "北京", "Canton": "广州", "Leeds": "利兹",
    "Sheffield": "谢菲尔德", "Bristol": "布里斯托", "Cardiff": "加的夫",
    "Nottingham": "诺丁汉", "Nantes": "南特", "Strasbourg": "斯特拉斯堡",
    "Hannover": "汉诺威", "Bremen": "不来梅", "Nuremberg": "纽伦堡",
    "Portland": "波特兰",
    "Oakland": "奥克兰", "Newark": "纽瓦克", "Cincinnati": "辛辛那提",
    "Indianapolis": "印第安纳波利斯", "Anchorage": "安克雷奇", "Ontario": "安大略",
}  # fmt: skip

_pairs = [
    tuple(pair.strip().split(" ", 1))
    for line in _PAIRS.strip().splitlines()
    for pair in line.split("|")
]

CHINESE: frozenset[str] = frozenset(zh for zh, _ in _pairs) | frozenset(_ALSO.values())
LATIN: frozenset[str] = frozenset(latin for _, latin in _pairs) | frozenset(_ALSO)
# Folded name -> the name in the other language.
ALIASES: Mapping[str, str] = {
    **{latin.casefold(): zh for latin, zh in _ALSO.items()},
    **{latin.casefold(): zh for latin, zh in reversed(_pairs)},
    **{zh: latin.casefold() for zh, latin in _pairs},
}
