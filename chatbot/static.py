"""Static files under hashed names, so that a browser may keep them for ever."""

from __future__ import annotations

from servestatic.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    # ES modules import each other by name: those names must be hashed as well.
    support_js_module_import_aggregation = True
