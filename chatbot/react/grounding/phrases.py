"""Sentences that no observation can back: promises, deeds, rules, talk of oneself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from chatbot.react.grounding.lexicon import exact_word_list, word_list

PhraseKind: TypeAlias = Literal[
    "promise", "effect", "policy", "contact", "filler", "prompt"
]


@dataclass(frozen=True, slots=True)
class Phrase:
    start: int
    end: int
    text: str
    kind: PhraseKind


_PROMISE = word_list(r"""
    \b(?:I|we)(?:'ll| will| shall|'m going to| am going to|'re going to| are going to|ll
        | promise to)(?: (?:also|now|then|just|certainly|definitely|gladly|personally
        |immediately|quickly|be sure to|continue to))*\s(?:be )?(?:(?:double[- ])?check
        |look(?:ing)? into|get back|follow(?:ing)? up|contact|notify|update|keep
        |escalate|investigate|forward|arrange|send|process|refund|cancel|inform
        |let you know|reach out|call|email|e-mail|message|ask|make sure|ensure|submit
        |request|report|chase|monitor|watch|resolve|fix|expedite|speed|push|raise|file
        |open|create|issue|transfer|connect|pass|find out|see to|take care|handle
        |confirm|verify|try|work on|proceed|go ahead|remind|change|place|return|replace
        |ship|deliver|review)(?:ing)?\b
    \bwe(?:'ll| will)(?! (?:be (?:happy|glad|able)|need|have to|not|never|only)\b)
        \s[a-z]{2,}
    \b(?:it|they|parcel|package)(?:'ll| will| is going to| is about to)(?: then| next
        | now| be| soon){0,2} (?:go|going|move|moved|head|leave|continue|travel|pass
        |sent on|forwarded|loaded)\b
    (?:接下来|下一步|下一站|之后|随后)(?:就|会|将|要)*(?:发往|发到|送|运|到|派|转)
    \blet me (?:just |quickly |now |go |first )*(?:check|look|see|find|verify|confirm
        |contact|investigate|pull|get|fetch|try|ask|process)
    \byou(?:'ll| will) (?:be (?:notified|contacted|informed|updated|called|refunded
        |emailed)|(?:soon |shortly )?(?:receive|get
        |hear) (?:an? |another |your |the |from |back|more )*(?:e-?mail|message
        |notification|update|call|sms|text|us|confirmation|refund|reply|response))
    \b(?:someone|somebody|our (?:team|staff|agents?|colleagues?|support(?: team)?
        |warehouse|specialists?)|the (?:team|seller|warehouse|carrier|courier|shop)
        |an? (?:agent|colleague|representative|specialist|team member)) (?:will
        |is going to|'ll) (?:\w+ )?(?:contact|get back|reach|call|e-?mail|follow|look
        |review|check|process|notify|help|ship|send|handle|deliver|be in touch)
    \b(?:will|should) (?:be )?(?:ship(?:ped)?|sent|dispatched|refunded|processed
        |cancelled|canceled|resolved|replaced|arrive|delivered|updated)
        (?: \w+){0,2} (?:soon|shortly|asap|as soon as possible|in no time|any (?:day
        |time|minute) now|very soon|right away|immediately)
    \b(?:they|the (?:driver|carrier|courier|warehouse|seller)|UPS|DHL|FedEx)
        (?:'ll| will)(?: \w+){0,2} (?:try|attempt|deliver|call|reply|contact|come
        |return|bring|ship|refund|fix|sort)
    \b(?:arrive|reach you|be with you|get to you|be there|ship|go out|land|come)
        (?: \w+){0,2} (?:soon|shortly|before long|in no time)\b
    (?:放心|请放心)[^。!?？]{0,4}(?:会|一定|肯定|不会|都)|包在我|一分(?:钱)?(?:都|也)?不会?少
    \b(?:bear with me|one moment|just a (?:moment|second|minute)|give me a (?:moment
        |second|minute)|hold on|hang tight|stay tuned|please wait while)\b
    (?:稍后|随后|晚点|晚些时候|回头|稍晚)(?:[^,，。!！?？;；]{0,10})(?:再(?!试|来|查询)
        |会|为您|帮您|给您|跟进|回复|联系|通知|告知|查|处理)
    (?:我|我们|小编|小二|客服|这边|工作人员|专员|专人|商家|仓库|快递员|快递|物流|同事
        |团队|系统|平台|有人|相关部门|卖家)[^,，。!！?？;；如若可能]{0,8}?(?:会|将|马上
        |立刻|立即|这就|去)[^,，。!！?？;；]{0,8}?(?:查|核实|催|跟进|联系|反馈|通知|处理
        |安排|回复|退款|补发|发货|取消|修改|上报|转告|确认|提交|告知|解决|派送|配送|寄
        |办理|关注|答复|转接|协调|送)(?![了过])
    (?:会|将)(?:[^,，。!！?？;；]{0,4})(?:第一时间|尽快|马上|立即|及时|陆续|优先)
        (?:[^,，。!！?？;；]{0,8})(?:通知|联系|处理|回复|发货|发出|退款|安排|告知|解决
        |跟进|寄|送|补发|反馈|派)
    (?:尽快|马上|很快|立即|立刻)(?:就)?(?:会|将|能)?(?:帮您|为您|给您|替您|就)?(?:催|查
        |发货|发出|处理|安排|跟进|联系|退款|送达|送到|反馈|到货|寄出|补发)
    (?:[\d一二两三几]{1,3}个?(?:小时|工作日|天|分钟)之?内)(?:就|会|将|一定|必|给您|为您|我们?)*
        (?:答复|回复|联系|处理|解决|通知|发货|退款|到账|办好|搞定)
    (?:我|这边|我们)[^,，。]{0,4}(?:把|将)[^,，。]{1,12}(?:转给|转交|反馈|提交|报给|告诉|转达)
    (?:很快|马上|即将|不久|过不了多久)(?:就|能|会|可以|要)*(?:到|送|收|发|退|寄|处理|解决)
    请?(?:您)?(?:稍等|稍候|等一下|等我)(?:[^,，。!！?？;；]{0,4})
    我(?:这边)?(?:先|来|去|再)?(?:帮您|为您|给您)(?:查一下|查询一下|看一下|催|核实|跟进
        |处理|反馈|联系|确认一下)
    (?:有|一有)(?:新|任何|最新)?(?:的)?(?:进展|消息|结果|更新|动态)[^。!！?？;；]{0,10}
        (?:通知|告诉|联系|告知|回复)
""")
# An offer, or a promise that waits for something the customer does, is none.
_CONDITION = word_list(r"""
    \b(?:if (?:you|that|needed|necessary|so|it helps)|(?:once|when|whenever|as soon as
        |after) you|should you|would you like|just (?:tell|send|give|let)|tell me
        |send me|give me|share|provide|let me know|happy to|glad to|can|could|unless
        |want me to)\b
    如果
    如需
    若
    要是
    需要的话
    是否需要
    要不要
    可以(?:帮|为|给|联系|随时|再)
    告诉我
    请提供
    提供
    发给我
    把[^,，。]{0,12}(?:发|告诉|提供)(?:给?我|来|一下)
    麻烦您
    只要
    的话
    需要我
    希望
""")
_EFFECT = word_list(r"""
    \b(?:I|we)(?:'ve| have)(?: (?:just|already|now|also|gladly|successfully|personally
        |since))*\s(?!(?:check|look|search|tri|notic|need|receiv|review|us|mention|list
        |describ|explain|answer)(?:ed|d)\b)[a-z]{2,12}ed\b
    \b(?:rely|count|depend) on (?:us|me)\b
    \b(?:I|we)(?:'ve| have)?(?: just| already| now)? (?:spoken?|wrote|written|told|gave
        |given|rang|got in touch|gotten in touch|sent|made sure|set up)\b
    \b(?:attempt|delivery|pick-?up|appointment|slot|visit|call|callback)
        (?: is| has been| was)(?: now| already)? (?:booked|arranged
        |scheduled|planned|confirmed)\b
    (?:已经?|都)(?:约好|预约|约定|安排好|排好|定好|订好)
    \bI (?!(?:check|look|search|tri|notic|need|receiv|review|want|mention|list
        |stopp)(?:ed|d)
        \b)[a-z]{2,12}(?<!ne)ed\b
    \b(?:cancellation|refund|return|exchange|replacement|change) (?:of [^ ]{1,12} )?
        (?:is|process is) (?:now |already )?(?:under ?way|started|in motion|on its way)
    (?:替|帮|为|给)您(?!查|看|找|核|搜|检|翻|添|带来|造成|打扰|了|送|寄|发|退)
        [^,，。!?？吗]{1,10}了(?=[,，。!~]|$)
    (?:取消|退款|退货|换货|申诉|投诉)(?:流程|申请|手续)?(?:已经?)(?:启动|开始|生效|走完)
    \b(?:I|we)(?:'ve| have|ve)?(?: (?:just|already|now|also|(?:gone|went) ahead and
        |successfully
        |personally|since))*\s(?:cancel(?:l)?ed|submitted|refunded|requested|updated
        |changed|forwarded|escalated|contacted|sent|created|opened|filed|placed
        |initiated|notified|processed|arranged|scheduled|booked|registered|reported
        |transferred|connected|passed|issued|started|raised|flagged|urged|asked
        |spoken|talked|called|emailed|messaged|reached out|informed
        |logged|noted|corrected|replaced|reserved|applied|approved|expedited|added
        |recorded|set up|put (?:an?|in|through|it)|had (?:a |the |our )|let (?:the
        |our)|made sure|taken care
        |dealt with|fixed|resolved|waived|credited|intercepted|paused|rushed
        |pushed|chased
        |nudged|pinged|reshipped|removed|triggered|deleted|erased
        |wiped|purged|closed|voided|paid|charged)\b
    \b(?:request|ticket|case|claim|complaint|application|return label|label|replacement
        |inquiry|enquiry|investigation|reminder|escalation|form|note|message)
        (?: [^ ,.]{1,14}){0,5}? (?:has|have|was|were|is)(?: now| already| just)?
        (?: been)? (?:successfully )?(?:submitted|created|opened|filed|sent|issued
        |registered|received by|raised|logged|forwarded|initiated|recorded|made|placed
        |approved|added)\b
    \b(?:address|phone number|delivery time|order|name|recipient)
        (?: [^ ,.]{1,14}){0,4}? (?:has|have|was|were)(?: now| already| just)?
        (?: been)? (?:successfully )?(?:updated|changed|modified|corrected|amended
        |replaced)\b
    \b(?:it|they|that|order|account|record|data|everything|address|history)
        (?: [^ ,.]{1,14}){0,3}? (?:has|have|was|were|is|are)
        (?: now| already| just| all)?
        (?: been)? (?:successfully )?(?:deleted|erased|removed|wiped|purged|voided)\b
    \b(?:warehouse|carrier|courier|driver|team|colleagues?|seller|support|manager)
        (?: \w+){0,2} (?:has|have|was|were)(?: \w+){0,1} (?:informed|told|notified
        |asked|alerted|contacted|instructed|agreed|promised|confirmed|assured)\b
    \b(?:is|are) (?:now )?being (?:cancel(?:l)?ed|refunded|escalated|prioriti[sz]ed
        |rerouted|redirected|replaced|reshipped|investigated)\b
    (?:^|[\n.!。！] ?)(?:all )?(?:done|deleted|erased|removed)
        (?=[.!,;。！，；]|$)
    \bI(?:'m| am) (?:now )?(?:cancel(?:l)?ing|processing|submitting|refunding
        |transferring|forwarding|escalating|contacting|connecting)
    \b(?:your|the) (?:cancellation|return|exchange|refund request|address change)
        (?: [^ ,.]{1,14}){0,3}? (?:has|was|is)(?: now| already| just)?
        (?: been)? (?:successful(?:ly)?|submitted|confirmed|completed?|processed
        |approved|accepted|registered|set up|arranged)\b
    已经?(?:成功)?(?:为您|帮您|给您|替您|帮你|为你|给你|帮忙)(?!查|看|核对|核实|确认|找
        |检索|了解|核查|翻)
    (?:我|我们|这边|客服)?已经?(?:成功)?(?:提交|登记|反馈|上报|催促|催单|加急|备注|转接
        |转人工|安排|通知|联系|拦截|修改|更新(?!时间|于|至|到)|变更|转交|受理|记录|补发
        |申请|发起|办理|处理(?!中)|下单)(?!中|状态)
    (?:地址|收货地址|电话|订单信息)(?:已经?|成功)(?:修改|更新|变更|更改)
    (?:修改|变更|提交|申请|拦截|催单|登记)成功
    (?:已经?|都|全部?|成功)(?:成功|全部)?(?:删除|删掉|删了|清除|清空|移除|注销|作废
        |抹掉|关闭)(?!中|状态)
    (?:删除|注销|清除|清空|移除)(?:成功|完成|完毕|好了|了)
    (?:办|搞|弄|删|清|改|退|处理)(?:好|定|妥|完)了
    (?:我|这边|我们)?(?:已经?|刚刚?)(?:让|叫|请|拜托|嘱咐|要求|跟|和|给|向)
        [^,，。]{0,8}(?:仓库|同事|快递|商家|财务|客服|主管|卖家|站点|顺丰|物流)
    (?:仓库|快递|快递员|同事|客服|财务|主管|商家|卖家|顺丰|京东|圆通|中通)(?:那边|方面)?
        (?:已经?|刚刚?)?(?:答应|承诺|保证|确认过|同意|回复说|表示)
    (?:催|催促|反馈|登记|备注|上报|加急|投诉|拦截)(?:过)?了
    正在为您(?:取消|转接|处理|办理|申请|提交|催|联系)
    (?:帮您|为您|给您)(?:取消|退款|修改|提交|登记|反馈|催促|办理|申请|转接|联系|拦截
        |加急|催)(?:好)?了
""")
_POLICY = word_list(r"""
    \d{1,3}\s?%
    (?:赔|返还?|补)(?:给)?(?:您|你)
    \b(?:our|the|shop|store|company)(?: \w+){0,2} polic(?:y|ies)\b(?: (?:is|are|says?
        |states?|allows?|requires?|covers?))
    \bfree (?:of charge )?(?:returns?|shipping|delivery|exchanges?)
    \breturns? (?:is|are) free
    \bfree of charge\b
    \bupgraded (?:you|your)\b
    \b(?:free|no) (?:return )?(?:shipping|restocking) (?:fee|cost|charge)s?
    \brestocking fee
    \bnon[- ]?refundable
    \bnot refundable
    \bwe (?:will )?(?:pay|cover|bear|reimburse)\b
    我们?(?:包|承担|报销)
    \bmoney[- ]back
    \b\d{1,2}\s?%\s?(?:off|discount|cashback)
    (?:免费|为您)升级|[1-9一二三四五六七八九]折(?!叠)|折扣|减免
    \breturn window
    \bwarranty (?:of|is|lasts|covers)
    \b\d{1,3}[- ](?:day|month|year)s? (?:return|refund|money|warranty|guarantee|exchange
        |no[- ]questions)
    \bper (?:our|company|shop) (?:policy|rules|terms)
    \b(?:usually|typically|normally|generally|always) (?:takes?|ships?|arrives?
        |delivers?|delivered|shipped|processed|refunded|within|need|be)
    \byou (?:can|may|are entitled to|have the right to) (?:return|exchange|cancel
        |get a (?:full )?refund)(?: [^ ,.]{1,14}){0,5}? (?:within|for free|at no
        |any ?time|free|up to|before)
    \b(?:eligible|entitled|qualif(?:y|ies)) (?:for|to)\b
    \bcompensat
    \bgift card
    \bvoucher
    \bcoupon
    \bdiscount of
    [七7]天(?:无理由|内可)
    无理由退
    (?:包邮|免运费|免邮|免费退|免费换|运费险|免费配送|免费上门)
    运费(?:由|需)
    运费[^。,，]{0,6}承担
    (?:根据|按照|依据)(?:我们|本店|平台|公司|店铺|商城)?的?(?:相关)?(?:规定|政策|规则
        |条款)
    (?:一般|通常|正常|正常情况下|一般情况下|平均)[^,，。]{0,10}?(?:\d
        |[一二三四五六七八九十两]).{0,6}?(?:天|小时|工作日)
    (?:不支持|不能|不可|支持|可以(?!回答|查|帮|为|给)|可享受|享受)[^,，。]{0,6}(?:无理由
        |退换|退货退款|价保|保价)
    赔付
    赔偿
    补偿
    优惠券
    代金券
    红包
    假一赔
    质保
    保修
""")
_URL = word_list(r"""
    (?:https?://|www\.)[^\s<>\"'，。；、）)]{1,300}
    \b[a-z0-9][a-z0-9-]{1,60}(?:\.[a-z0-9-]{2,40}){0,3}\.(?:com|cn|net|org|io|shop|store
        |co|info|biz|de|fr|uk|eu|me|app|example|test|xyz|top|vip|cc)\b
        (?:/[^\s<>\"'，。；、）)]{0,200})?
""")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_PHONE = exact_word_list(r"""
    (?<![\w-])(?:\+\d{1,3}[\s-]?)?(?:\(?0\d{2,3}\)?[\s-]?\d{7,8}
        |1[3-9]\d[\s-]?\d{4}[\s-]?\d{4}|[48]00[\s-]?[0-9A-Z]{3,4}
        (?:[\s-]?[0-9A-Z]{3,4})?|\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}|9[5-6]\d{3}
        |\+\d[\d\s-]{7,16}\d)(?![\w-])
""")
_CALLS = exact_word_list(r"""
    (?:致电|拨打|电话(?:是|为|:|：)|热线|来电|微信(?:号)?(?:是|为|:|：)|加微信|QQ(?:号
        |群)?(?:是|为|:|：)?|\b(?:call(?: us)?(?: at| on)?|phone|dial|text|whatsapp
        |hotline)(?: number)?(?: at| on| is|:)?)\s?[:：]?\s?[+(]?
        (?=[0-9A-Z+ -]*\d)[0-9A-Z][0-9A-Z -]{3,18}
""")
# A code to fetch a parcel with comes from nowhere but the data.
_PICKUP_CODE = exact_word_list(r"""
    (?:取件码|取货码|提货码|提取码|开箱码|验证码|[Pp]ick-?up (?:code|number|PIN)
        |[Cc]ollection (?:code|number|PIN)|[Aa]ccess code|[Ll]ocker (?:code|PIN)
        |[Pp]ick-?up point[^.。]{0,3}code|[Rr]elease code|\bPIN)
        (?:\s?(?:is|为|是))?\s?[:：]?\s?[A-Z]{0,2}-?\d[\dA-Z-]{2,14}
    [;；]\s?code (?:is )?\d[\d-]{2,14}
""")
_STREET = exact_word_list(r"""
    \b\d{1,5}[A-Z]? (?:[A-Z][\w'’.-]{1,20} ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane
        |Ln|Boulevard|Blvd|Drive|Square)\b
    (?:[A-Z][\w'’.-]{1,20} ){1,3}(?:Street|Road|Avenue|Lane|Boulevard)[ ,]{1,2}
        (?:No\.? ?)?\d{1,5}\b
    [\u4e00-\u9fff]{2,6}(?:路|街|大道|巷|弄)\s?\d{1,5}\s?号
""")
_SECRET_WANTED = word_list(r"""
    (?:提供|告知|发送|告诉|输入|回复|报)[^,，。]{0,12}(?:验证码|校验码|密码|银行卡号
        |卡号|身份证|CVV|支付密码)
    \b(?:provide|send|tell|give|share|enter|confirm|reply with)
        (?: \w+){0,5}? (?:verification code|one[- ]time (?:code|password)|otp|password
        |card number|cvv|pin(?: code)?|security code|social security|bank (?:details
        |account))
    \b(?:verify|confirm|authenticate|validate|unlock|link|bind) your (?:\w+ ){0,2}?
        (?:bank|card|credit|debit|payment|wallet|account|identity)
    \bscan (?:the|this|our|a) (?:qr|code)
    扫(?:描|一扫|一下)?(?:下方|以下|这个|此|该)?的?(?:二维码|码)
    (?:验证|核验|绑定|解冻)(?:您的|你的)?(?:银行卡|账户|账号|身份|支付)
""")
_FILLER = word_list(r"""
    (?:^|\n)\s*(?:thought|action(?: input)?|observation|final answer|reasoning|plan
        |step \d+|思考|行动|观察|最终答案|工具调用)\s*[:：]
    </?(?:tool_call|think|function|tool_response|im_start|im_end|\|)[^>\n]{0,40}>
    <\|[a-z_]{1,24}\|>
    \b(?:get_order|track_shipment|list_my_orders|get_refund|search_help|ask_customer
        |handoff_to_human)\b
    [{\[]\s*\"(?:name|tool|tool_calls|arguments|content|answer|function|thought|action
        |order_id)\"\s*:
    \bas an ai\b
    \blanguage model\b
    \bI(?:'m| am) (?:still )?(?:thinking|considering|processing your|trying to
        |working on|checking|looking)
    \bI (?:should|need to|must|have to) (?:first |now )?(?:call|use|check|look|query
        |find|ask|get|invoke)
    \bthe user (?:is|wants|asks|asked|has)\b
    \bthe customer (?:is asking|wants|asks|asked)\b
    作为(?:一个)?(?:AI|人工智能|语言模型)
    我(?:正在|在)(?:思考|考虑|查询|处理|查看|核实)
    我(?:应该|需要)(?:先)?(?:调用|使用|查|查询)
    用户(?:想|询问|问|要求|的问题)
    \[(?:order|tracking|insert|your|date|place|name|amount|订单|运单|日期|姓名|地点
        |金额)[^\]\n]{0,30}\]
    \{\{?\s*[a-z_]{2,30}\s*\}?\}
    <(?:order|tracking|date|place|name|amount)[^>\n]{0,24}>
    \bTBD\b
    \bXXX+\b
    \blorem ipsum\b
    \bN/A\b
""")
_PROMPT = word_list(r"""
    (?:您|你)(?:现在)?(?:已经?)?(?:是|成为|拥有|具有|获得)(?:了)?(?:系统|超级)?管理员
    管理员(?:权限|模式)
    开发者模式
    (?:系统提示词?|系统指令|我的(?:指令|提示词|系统提示))(?:是|如下|为|内容|:|：)
    \byou are (?:now )?(?:an? |the )?(?:admin|administrator|developer|root|supervisor)\b
    \b(?:admin|developer|debug|god|dan) mode\b
    \badmin(?:istrator)? (?:access|rights|privileges)
    \bmy (?:system prompt|instructions|system message)(?: \w+){0,2} (?:is|are|says?
        |tells?|reads?|:)
    \bsystem prompt\s?:
    \bignor(?:e|ing) (?:all |my |the )?(?:previous|prior|earlier) (?:instructions|rules)
""")

_SENTENCE_KINDS: tuple[tuple[PhraseKind, re.Pattern[str]], ...] = (
    ("effect", _EFFECT),
    ("promise", _PROMISE),
    ("policy", _POLICY),
    ("contact", _SECRET_WANTED),
    ("filler", _FILLER),
    ("prompt", _PROMPT),
)
_NOT_BEFORE = re.compile(
    r"(?:未|没有?|尚未|不能|无法|不会|不可以|没办法|not|n't|nt|never"
    r"|cannot|unable to|neither|nor|no)"
    r"(?:[\s直接自己]|been|able to|yet|a|any|the|to|directly|be|have){0,6}$",
    re.I,
)


def find_phrases(text: str, bounds: Sequence[tuple[int, int]]) -> Iterator[Phrase]:
    """What the sentences promise, claim to have done, rule or leak."""
    for start, end in bounds:
        conditional = bool(_CONDITION.search(text, start, end))
        asks = text[max(start, end - 2) : end].strip()[-1:] in ("?", "？")
        for kind, pattern in _SENTENCE_KINDS:
            for match in pattern.finditer(text, start, end):
                if kind == "promise" and (conditional or asks):
                    continue
                if kind in ("effect", "policy") and asks:
                    continue
                before = text[max(start, match.start() - 30) : match.start()]
                if kind in (
                    "effect",
                    "policy",
                    "prompt",
                    "contact",
                ) and _NOT_BEFORE.search(before):
                    continue
                yield Phrase(match.start(), match.end(), match.group(), kind)


def find_contacts(text: str) -> Iterator[Phrase]:
    for pattern in (_URL, _MAIL, _PHONE, _CALLS, _PICKUP_CODE, _STREET):
        for match in pattern.finditer(text):
            yield Phrase(
                match.start(), match.end(), match.group().rstrip(".,"), "contact"
            )
