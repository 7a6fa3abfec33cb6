"""English words that mean the same to an order desk: word beginnings by concept.

A word belongs to the concept of the longest beginning that it starts with; a beginning
that ends with ``$`` is a whole word. Common misspellings and Hindi words are included.
"""

from __future__ import annotations

CONCEPTS: dict[str, str] = {
    "PARCEL": (
        "parcel parcle package packge packag pkg$ shipment consignment box$ boxes$ "
        "envelope packet letter deliveries$ delivry$"
    ),
    "ORDER": "orders$ oder$ ordr$ roder$ orde$ purchase$ purchases$ odr$",
    "BOUGHT": "ordered bought purchased ordering placed$ preorder pre$",
    "GOODS": (
        "item product prodct produc stuff thing$ things$ goods gift present phone "
        "laptop headphone shoe book shirt dress jacket tv$ camera lamp sofa "
        "mattress watch$ toy tablet charger cable bag$ bags$ kettle bottle table "
        "chair desk bike console game$ games$ dvd$ monitor headset speaker ring$ "
        "coat fridge washing machine plate cup$ cups$ glass$ glasses$ vase printer "
        "protein saaman samaan"
    ),
    "ARRIVE": (
        "arriv ariv come$ comes$ coming came$ reach turn$ turned show$ showed shown "
        "land$ appear here$ pohch aayega ayega aya$ aaya$ mila$ milega milegi"
    ),
    "DELIVER": "deliver deliverd dilver diliver delever dropped drop$ handed left$",
    "RECEIVE": (
        "receiv reciev recev got$ get$ gotten receved recvd recived have$ having "
        "obtained"
    ),
    "SHIP": (
        "ship$ shipped shiped ships$ shipping$ dispatch despatch sent$ send$ "
        "sending posted mailed leave$ leaving warehouse packed"
    ),
    "NOT": (
        "not$ no$ never didnt hasnt havent isnt wasnt dont doesnt cant cannot "
        "couldnt wont nothing none$ without nor$ yet$ neither nope unable failed "
        "fail$ fails nahi nhi$ nai$ aint"
    ),
    "STILL": "still$ abhi again$ keeps$ keep$ constantly always",
    "WHEN": "when$ wen$ whn$ kab$ dates$ eta$ expected expect$ estimated estimate",
    "HOWLONG": "long$ longer$ timeframe timeline",
    "WHERE": (
        "where$ wheres$ whr$ whereabouts kaha$ kahan kidhar located locate track$ "
        "trace$ tracking$ tracked"
    ),
    "WHY": "why$ reason kyu$ kyun$ explain explanation cause$ excuse",
    "HOW": "how$ kaise process$ procedure steps$",
    "WHO": "who$ whos$ whose$ whom$",
    "STATUS": (
        "status update updates progress info$ information details detail happened "
        "happening news$"
    ),
    "LATE": (
        "late$ delay delayed delaying overdue slow$ missed$ stuck waiting wait$ "
        "waited supposed meant$ promised promise guaranteed guarantee$ due$ behind "
        "past$"
    ),
    "TIME": (
        "today tomorrow tonight yesterday monday tuesday wednesday thursday friday "
        "saturday sunday mon$ tue$ wed$ thu$ thurs fri$ sat$ sun$ week weekend day$ "
        "days$ hour morning afternoon evening noon$ night month date$ christmas "
        "xmas birthday wedding holiday aaj$ kal$ din$ 0$ pm$ am$ january february "
        "march april may$ june july august september october november december dec$ "
        "nov$ jan$ oct$"
    ),
    "FAST": (
        "fast$ faster quick soon$ sooner asap$ urgent hurry early$ earlier earliest "
        "immediate expedite speed jaldi priority express overnight"
    ),
    "CANCEL": (
        "cancel cancle cancal cansel canel cnacel cancl refuse undo$ void$ scrap "
        "radd stop$ intercept"
    ),
    "RETURN": (
        "return retrun retun back$ wapas pickup pick$ collect$ collection label"
    ),
    "EXCHANGE": "exchang replac swap$ another$ badal resend",
    "REFUND": (
        "refund refnd refound reimburs paise paisa money cash$ amount compensation "
        "credited credit$ repay"
    ),
    "CHARGED": (
        "charged charge$ debited deducted payment paid$ pay$ paying billed bank card$"
    ),
    "BROKEN": (
        "broke broken damag defect crack torn$ leak smash crush faulty scratch dent "
        "shatter bent$ ruined spoiled expired kharab soaked wet$ used$ opened open$ "
        "fake$ duplicate quality ripped"
    ),
    "WRONG": (
        "wrong incorrect galat mistake mistakenly different$ instead$ error typo"
    ),
    "MISSING": (
        "missing half$ only$ partial incomplete rest$ empty$ short$ part$ parts$ "
        "lost$ vanished disappeared"
    ),
    "ADDRESS": (
        "address addres adress adres addr$ postcode landmark street flat$ apartment "
        "pata$ recipient mobile"
    ),
    "CHANGE": (
        "change chang changing update$ edit$ modify modif correct$ redirect alter "
        "switch$ move$ moved amend"
    ),
    "INVOICE": "invoice invoce receipt receipts bill$ bills$ gst$ vat$ tax$",
    "PERSON": (
        "human person agent representative rep$ manager supervisor executive "
        "advisor operator someone somebody anyone people$ team$ staff"
    ),
    "CONTACT": (
        "call$ calls$ calling callback contact phone$ number helpline talk$ speak "
        "chat$ connect transfer escalate reach$ email$ reply replies respond "
        "response answer answering"
    ),
    "SERVICE": "service support care$ customer company",
    "COURIER": (
        "courier driver carrier fedex ups$ usps$ dhl$ hermes evri$ dpd$ postman "
        "postal royal mailman ontrac delivery$ guy$ boy$"
    ),
    "SAYS": (
        "says$ say$ said$ saying shows$ showing shown$ marked states$ claims "
        "claimed claim$ according told$ tells$"
    ),
    "HOME": (
        "home$ house door$ porch neighbour neighbor mailbox locker reception lobby "
        "garden bin$ fence front$"
    ),
    "AREA": (
        "area$ location city town country region village state$ pincode pin$ zip$ "
        "international internationally abroad"
    ),
    "POLICY": (
        "policy policies rule$ rules$ warranty terms allowed possible available "
        "availability accept provide offered service$ cod$ emi$ option options "
        "method methods modes fee$ fees$ free$ cost$ costs$ charges$"
    ),
    "IF": "if$ suppose$ what$ in$ case$",
    "DOYOU": "do$ does$ can$ could$ will$ would$ is$ are$ u$ you$",
    "WANT": (
        "want$ wanted need$ needed please$ pls$ plz$ kindly like$ id$ chahiye karna"
    ),
    "ANGRY": (
        "terrible horrible worst pathetic ridiculous disgust awful useless rubbish "
        "scam cheat fraud liar joke$ shame disappoint frustrat unacceptable poor$ "
        "bad$ hate$ shambles unhappy appalling"
    ),
    "THANKS": (
        "thank thanks thx$ cheers great$ love$ awesome nice$ brilliant happy "
        "excellent appreciate"
    ),
    "DEVICE": (
        "app$ apps$ website site$ video videos stream kindle alexa echo$ fire$ "
        "login password account log$ logged sign$ wifi bluetooth screen$ sound "
        "music movie film subscription membership member$ prime$ trial$ code$ "
        "coupon voucher promo discount offer$ offers$ deal$ deals$ sale$ points "
        "review seller$ stock$ price$ prices$"
    ),
    "ADVICE": (
        "recommend suggest best$ better$ which$ good$ size$ sizes$ use$ using safe$ "
        "difference effects effect flavour ingredients dose diet weight gain muscle "
        "store$ shop$ showroom"
    ),
    "BUY": "buy$ buying sell$ sells$ place$ checkout cart$ basket order$",
}
