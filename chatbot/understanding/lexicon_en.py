"""How people say it in English. Read on ``plain_text``: lower case, no apostrophes."""

# ruff: noqa: E501 (a pattern is easier to read unbroken)

from __future__ import annotations

from chatbot.understanding.kinds import Need, Topic
from chatbot.understanding.rules import Rule, rule

_THING = (
    r"(?:orders?|oder|ordr|roder|parcels?|parcle|packages?|packge|package?s|pkg"
    r"|shipments?|shipping|items?|products?|prodct|deliver(?:y|ies)|delivry|stuff|things?"
    r"|purchases?|goods|consignment|box(?:es)?|courier|mail|it|they|them|these|that|this|one)"
)
_NOT = (
    r"(?:not|never|isnt|wasnt|hasnt|havent|hav not|didnt|dont|doesnt|arent|cant"
    r"|wont|couldnt|unable to|no|yet to|still)"
)
_ARRIVE = (
    r"(?:arriv\w*|arive\w*|deliver\w*|diliver\w*|delever\w*|come|comes|coming|get here"
    r"|reach\w*|receiv\w*|recie\w*|recev\w*|show(?:ed)? up|turn(?:ed)? up|be here"
    r"|get (?:it|my|them|the)|expect)"
)
_CANCEL = r"(?:cancel\w*|cancle\w*|cancal\w*|cansel\w*|canel\w*|cnacel\w*|cacel\w*)"
_RETURN = r"(?:return(?:ed|ing|s)?|retrun\w*|retun\w*|exchang\w*|replac(?:e|ed|ing|ement|ements)|swap)"
_REFUND = r"(?:refund\w*|refnd\w*|reund\w*|refound\w*|reimburs\w*|money ?back|cash ?back on|paise wapas|paisa wapas|chargeback)"
_ADDRESS = r"(?:add?ress?e?s?|adress|adres|addr|pincode|pin code|zip ?code|postcode|phone number|mobile number|contact number|recipient|location)"

RULES: tuple[Rule, ...] = (
    rule(
        None,
        "rank",
        r"\b(?:i am|i'm|im|as|this is)(?: now| really| actually)*(?: an?| the| your)?(?: system| super| site| shop)*(?: admin(?:istrator)?| root| developer| engineer| owner| manager| supervisor)\b(?! (?:please|can|could))|\b(?:admin|developer|debug|root|maintenance) mode\b",
    ),
    rule(
        Need.HUMAN,
        "human",
        r"(?<!are you )(?<!are you a )(?<!you are )\bhuman\b(?! or\b)|\b(?:real person|actual person|live (?:agent|person|chat)|customer (?:care|support|service) (?:number|no|phone))\b",
        r"\b(?:talk|speak|chat|connect|transfer|escalate|put me through|pass me)\b.{0,20}\b(?:to|with|an?|me)\b.{0,12}\b(?:agents?|humans?|persons?|someone|somebody|manager|supervisor|rep|representative|executive|people|customer (?:care|service|support)|support|team|operator|advis[eo]r|staff)\b",
        r"\b(?:any|some)(?:one|body) real\b|\b(?:real|actual) (?:people|someone|somebody)\b",
        r"\bcall ?(?:me )?back\b",
        r"\b(?:get|be|put me) in touch\b(?! with the (?:driver|courier))|\bcontact (?:us|you|details|info\w*)\b",
        r"\b(?:your|an?|the) (?:e-?mail(?: address)?|phone|telephone|contact|complaints?)(?: number| line| department| team)\b",
        r"\b(?:someone|somebody|anyone|anybody)\b.{0,12}\b(?:call|ring|phone|contact|talk|speak)\b",
        r"\b(?:who|whom|where|how) (?:do|can|should|to|could) (?:i |we )?(?:speak|talk|complain|escalate)\b",
        r"\b(?:file|make|raise|register|lodge) (?:an? )?(?:formal )?complaint\b|\b(?:your|a|the) (?:manager|supervisor)\b",
        r"\b(?:speak|talk) (?:to|with) (?:some|any|a real|an actual|your|the)",
        r"\bcall me\b",
        r"\b(?:contact|phone|helpline|toll ?free|support|service) (?:number|no|num)\b",
        r"\bhow (?:can|do|to|could) (?:i |we )?(?:call|contact|reach|phone)\b.{0,10}\b(?:you|u|customer|support|someone)\b",
        r"\bwhere (?:do|can) i call\b",
        r"^(?:agent|operator|representative|human|person|customer (?:care|service|support)|support|manager)[.!? ]*$",
        r"\b(?:need|want|get me|give me)\b.{0,15}\b(?:an? )?(?:agent|manager|supervisor|real person|someone to talk)\b",
        r"\bcontact (?:the )?customer (?:care|service|support)\b",
    ),
    # Of whom people complain at length, and whom they ask for shortly.
    rule(
        None,
        "person_named",
        r"\brepresentative|\bcustomer (?:care|support|service) (?:agent|person|exec\w*|rep\w*)\b",
    ),
    rule(
        None,
        "unanswered",
        r"\bno ?(?:one|body) (?:is |s |has )?(?:answer\w*|respon\w*|repl\w*|pick\w*|got back)",
        r"\bno (?:response|reply|answer)\b|\bnot (?:responding|replying|answering)\b",
    ),
    rule(
        Need.CANCEL,
        "cancel",
        rf"\b{_CANCEL}",
        r"\b(?:call off|dont want (?:the|my|this) order|stop (?:the|my|this) (?:order|shipment|delivery|parcel|package)|refuse (?:the )?(?:parcel|package|delivery)|intercept)\b",
    ),
    rule(
        Need.REFUND_STATUS,
        "refund",
        rf"\b{_REFUND}\b",
        r"\b(?:money|amount|payment|cash)\b.{0,25}\b(?:back|return\w*|credited|refund\w*)\b",
        r"\bgive (?:me )?(?:back )?my money\b",
    ),
    rule(
        Need.RETURN,
        "return",
        rf"\b{_RETURN}\b",
        r"\bsend(?:ing)? (?:it|them|this|these) back\b",
    ),
    rule(
        Topic.DAMAGED,
        "damaged",
        r"\b(?:damaged?|broken?|broke|defect\w*|cracked|torn|leak(?:ed|ing)|smashed|crushed|faulty|scratch\w*|dented|shattered|not working|doesnt work|stopped working|opened? (?:package|product|box)|expired|fake product)\b",
    ),
    rule(
        Topic.WRONG_ITEM,
        "wrong_item",
        r"\b(?:wrong|different|incorrect|another) (?:item|product|colou?r|size|order|one|thing|parcel|package|model)\b",
        r"\bnot what i ordered\b|\bdid ?not order what\b|\bdidnt order this\b",
    ),
    rule(
        Topic.MISSING_ITEM,
        "missing_item",
        r"\b(?:missing|missed)\b.{0,20}\b(?:item|part|piece|product|from)\w*",
        r"\b(?:item|part|piece|product|half|one|some)s?\b.{0,30}\b(?:missing|not (?:in|included))\b",
        r"\bonly (?:received|got|delivered|came)\b|\bincomplete order\b",
    ),
    rule(
        Need.CHANGE_ADDRESS,
        "change_address",
        rf"\b(?:chang\w*|updat\w*|edit|modif\w*|correct|wrong|incorrect|different|another|new|redirect|amend|alter|switch|fix)\b.{{0,30}}\b{_ADDRESS}\b",
        rf"\b{_ADDRESS}\b.{{0,25}}\b(?:chang\w*|updat\w*|wrong|incorrect|edit\w*|modif\w*|correct\w*|mistake)\b",
        r"\b(?:ship|send|deliver|redirect|reroute)\b.{0,15}\b(?:to (?:a|my|an) (?:different|new|other|another|office|work|home)|somewhere else|elsewhere)\b",
    ),
    rule(
        Need.INVOICE,
        "invoice",
        r"\b(?:invoices?|invoce|receipts?|tax bill|gst|vat (?:invoice|receipt)|bill copy|copy of (?:the )?bill|bill for)\b",
    ),
    rule(
        Need.TRACKING_ID,
        "tracking_id",
        r"\b(?:tracking|track|awb|waybill|consignment|docket|lr) ?(?:number|no|num|id|code|#|link|info number|details)\b",
        r"\b(?:which|what|whose|who|whos)\b.{0,15}\b(?:courier|carrier|shipping company|delivery (?:company|partner|service)|deliver(?:ing|y))\b",
        r"\b(?:driver|courier|delivery (?:guy|boy|man|person|agent|partner))s?\b.{0,15}\b(?:number|contact|phone|no)\b",
        r"\b(?:contact|number|phone)\b.{0,15}\b(?:driver|courier|delivery (?:guy|boy|man|person|agent))\b",
    ),
    rule(
        Need.LOCATION,
        "location",
        rf"\b(?:where|were|wheres|whr|whereabouts)\b.{{0,25}}\b{_THING}\b",
        r"\bwhere (?:exactly )?(?:is|are|s)\b|\bwhere has\b|\bhow far\b|\bcurrent location\b|\blocate my\b",
        r"\bwhere\b.{0,20}\breached\b|\bwhere (?:are|r) (?:they|you) with\b|\b(?:order|parcel|package) location\b",
        r"\b(?:track|trace|find) (?:my |the |an? |this )?(?:package|parcel|shipment|delivery)\b",
    ),
    rule(
        Need.SHIPPED,
        "shipped",
        r"\b(?:has|have|was|were|is|did|when|hasnt|havent|been|not|yet|will|wil|please)\b.{0,30}\b(?:shipped|shiped|ship|dispatch\w*|despatch\w*|sent out|send out|go out|gone out|left the warehouse)\b",
        r"\b(?:shipped|shiped|dispatched|despatched) (?:yet|or not|already)\b",
        r"\b(?:hold|delay) (?:the |my )?(?:shipment|shipping|dispatch)\b|\bback in stock\b",
    ),
    rule(
        Need.ETA,
        "eta",
        rf"\b(?:when|wen|whn)\b.{{0,40}}\b{_ARRIVE}",
        r"\bhow (?:long|soon|many (?:more )?days|much (?:more |longer )?time|many hours|fast)\b",
        r"\b(?:eta|estimated (?:time|delivery|arrival)|expected (?:delivery|date|arrival|time)|delivery (?:date|time|day|slot)|arrival (?:date|time))\b",
        r"\bwhat (?:time|day|date)\b|\bby when\b|\bhurry\b|\b(?:asap|urgent\w*|early|earlier|faster|expedite|speed up|sooner|quick\w*)\b",
        r"\bwill (?:it|my|the|they|i)\b.{0,30}\b(?:today|tomorrow|tonight|by|on time|before|in time|this week|arrive|get here)\b",
        r"\b(?:resched\w*|delay my (?:order|delivery)|deliver (?:it )?(?:on|at)|another day|different day)\b",
    ),
    rule(
        Need.ORDER_STATUS,
        "order_status",
        r"\b(?:order|delivery|shipment|parcel|package|shipping)s? ?(?:status|update|progress|info\w*|details?|history)\b",
        r"\bstat(?:us|e)\b.{0,20}\b(?:order|delivery|shipment|parcel|package|shipping|item|product|it|purchase)\b",
        r"\b(?:update|news)\b.{0,15}\b(?:on|about|of|regarding)\b.{0,15}\b(?:order|parcel|package|delivery|shipment|it)\b",
        r"\btrack(?:ing)?\b|\bwhat(?:s| is| has)? (?:happen\w*|going on)\b|\bon its way\b|\b(?:my|previous|past|all|recent) orders\b",
        rf"\b{_NOT}\b.{{0,25}}\b(?:arriv\w*|receiv\w*|recie\w*|recev\w*|deliver\w*|come|came|got|reached|turned up|showed up|here)\b",
        r"\b(?:late|delayed|overdue|stuck|lost|nowhere to be found|supposed to (?:be|arrive|come|get))\b|\bwaiting (?:for|on)\b",
        r"\b(?:says|said|marked|shows|showing|shown|claims?)\b.{0,20}\bdeliver",
        r"\b(?:has|is|did) (?:it|is|my|the)\b.{0,20}\b(?:arrived|arrive|delivered)\b",
        r"\b(?:attempt|atempt)\w*\b.{0,25}\bdeliver",
        r"\b(?:paid|payment|amount|money|debited|deducted|charged)\b.{0,40}\b(?:not|no|dont|didnt|without)\b.{0,25}\b(?:order|visible|show|confirm|plac)\w*",
    ),
    rule(
        Need.POLICY,
        "policy",
        r"\b(?:policy|policies|warranty|guarantee|terms)\b",
        r"\b(?:do|can|will|are|could) (?:you|u|we|they)\b.{0,15}\b(?:deliver\w*|ship|accept|offer|provide|take|charge|have) (?:to|in|at|cod|cash|card|free|international\w*|outside|during|online)\b",
        r"\b(?:cod|cash on delivery|payment (?:methods?|options?|modes?)|modes? of payment|pay (?:by|via|with|online|through))\b",
        r"\b(?:pin ?codes?|serviceab\w*|my (?:area|city|location|town|country|region))\b",
        r"\b(?:shipping|delivery|return|restocking|cancellation) (?:fees?|charges?|costs?)\b|\bfree (?:shipping|delivery|returns?)\b|\bcharged? (?:for )?(?:shipping|delivery)\b",
        r"\b(?:lockdown|pandemic|holiday|covid)\b",
        r"\bhow long do i have\b|\bif i (?:order|place|buy|return)\b|\bis there (?:any|an?) (?:exchange|return|refund)\b|\bprice (?:match|protection|drop|adjust\w*)\b|\bcan i return (?:after|if|within)\b",
    ),
    rule(
        Topic.GREETING,
        "greeting",
        r"^(?:hi+|hello+|hey+|hii|good (?:morning|afternoon|evening|day)|namaste|greetings|yo)\b",
    ),
    rule(
        Topic.THANKS,
        "thanks",
        r"\b(?:thanks|thank you|thx|thank u|ty|cheers|appreciate it)\b",
    ),
    rule(
        Topic.SMALL_TALK,
        "small_talk",
        r"\bhow are you\b|\bwho are you\b|\bare you (?:a |an )?(?:bot|robot|human|real|ai|machine|computer)\b|\byour name\b|\btell me a joke\b",
    ),
    rule(
        Topic.CAPABILITIES,
        "capabilities",
        r"\bwhat (?:can|do) (?:you|u) (?:do|help)\b|\bwhat (?:kinds? of )?questions can i\b|\bhow can you help\b",
    ),
    rule(
        Topic.ANGRY,
        "angry",
        r"\b(?:pathetic|terrible|horrible|worst|ridiculous|disgust\w*|awful|useless|unacceptable|rubbish|scam\w*|cheat\w*|fraud\w*|liars?|(?<!tell me a )(?<!me another )joke|wtf|fuck\w*|shit\w*|damn|bloody|stupid|idiots?|fed up|furious|disappoint\w*|frustrat\w*|fail)\b",
    ),
    rule(
        Topic.LEGAL_THREAT,
        "legal_threat",
        r"\b(?:lawyers?|legal action|sue|court|consumer (?:court|forum|rights)|trading standards|attorney|police|solicitor|lawsuit|ombudsman)\b",
    ),
    rule(
        Topic.SAFETY,
        "safety",
        r"\b(?:kill myself|suicid\w*|caught fire|exploded?|explosion|burn(?:ed|t) my|electric shock|allergic reaction|injur\w*|threaten\w*|poison\w*|unsafe)\b",
    ),
    rule(
        Topic.LATE,
        "late",
        r"\b(?:late|delay\w*|overdue|still waiting|supposed to|taking (?:too|so) long|days? (?:ago|past|over))\b|\bmissed\b.{0,20}\b(?:date|day)\b",
    ),
    rule(
        Topic.DELIVERED_NOT_RECEIVED,
        "delivered_not_received",
        r"\b(?:says?|said|marked|shows?|showing|shown|claims?|states?|tracking)\b.{0,30}\bdelivered\b.{0,60}\b(?:not|nt|never|nothing|nowhere|havent|hasnt|didnt|isnt|no|but|lie)\b|\bdelivered\b.{0,12}\bbut\b.{0,25}\b(?:not|never|havent|hasnt|didnt|nothing)\b",
    ),
    rule(
        Topic.NOT_RECEIVED,
        "not_received",
        rf"\b{_NOT}\b.{{0,20}}\b(?:receiv\w*|recie\w*|recev\w*|arriv\w*|got|come|came|delivered|turned up|showed up)\b",
    ),
    rule(
        Topic.PAID_NO_ORDER,
        "paid_no_order",
        r"\b(?:paid|payment|amount|money|debited|deducted|charged)\b.{0,40}\b(?:not|no|dont|didnt|without)\b.{0,25}\b(?:order|visible|show|confirm|plac)\w*",
    ),
    rule(Topic.EXCHANGE, "exchange", r"\b(?:exchang\w*|replac\w*|swap)\b"),
    rule(
        Topic.REFUND_REQUEST,
        "refund_request",
        r"^(?!.{0,200}\b(?:when|where|how long|status|yet|still|track)\b).{0,200}\b(?:want|need|like|get|give me|demand|request|claim|apply for|asking for)\b.{0,20}\b(?:a refund|my money back|refunded)\b",
        r"^(?:hi|hello|hey|please|pls|can you|could you|just)?[ ,]{0,2}(?:please )?refund\b(?! status)",
    ),
    rule(
        Topic.MY_ORDERS,
        "my_orders",
        r"\b(?:my|previous|past|all|recent|which|what|list) (?:my )?orders\b|\border history\b|\borders (?:do|have) i\b",
    ),
    rule(
        None,
        "out_of_scope",
        r"\b(?:recommend|suggest|which (?:one |product |type )?(?:is|should)|side effects?|diet|weight|recipe|weather|joke|hotel|restaurant|flight|bank|credit card|loan|password|log ?in|account|wifi|app|promo\w*|coupons?|discounts?|gift ?cards?|points|subscription|prime video|alexa|kindle|luggage|insurance|tyre|meaning of|capital of|who (?:is|was)|play)\b",
    ),
)
