"""The shop's rules, from the articles of the help centre and from nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from tools.authorization import Action, roles_that
from tools.catalog.help_search import best_articles
from tools.catalog.results import HelpResult
from tools.catalog.tool import Raw, Tool
from tools.contracts import Actor, Effect, Json, ToolSpec
from tools.database import in_database


async def _search_help(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    found = await in_database(best_articles, str(arguments["query"]), actor.language)
    return {
        "articles": [
            {
                "slug": hit.slug,
                "title": hit.title,
                "excerpt": hit.body,
                "url": f"/help/{hit.slug}/",
                "language": hit.language,
            }
            for hit in found
        ]
    }


SEARCH_HELP = Tool(
    spec=ToolSpec(
        name="search_help",
        description={
            "en": "Search the shop's help articles: shipping, returns, payment, "
            "invoices and other rules. The only source for what the rules say.",
            "zh": "搜索店铺的帮助文章：配送、退换货、支付、发票等。规则以此为准。",
        },
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": 200}
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=tuple(HelpResult.model_fields),
        roles=roles_that(Action.ASK_RULES),
    ),
    run=_search_help,
    result=HelpResult,
    source="help",
)
