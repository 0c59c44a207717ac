"""The rules language: YAML text to nodes with places, to diagnostics or a variant.

Nothing here opens a file, knows the time or plays a game. ``chilkoot.library`` finds the files.
"""

from chilkoot.language.codes import CODES, Code, explain
from chilkoot.language.compile import (
    check_text,
    compile_variant,
    effective_rules,
    effective_settings,
    name_of_id,
)
from chilkoot.language.diagnostics import (
    Diagnostic,
    Place,
    Severity,
    Source,
    has_errors,
    in_order,
    render_github,
    render_json,
    render_text,
)
from chilkoot.language.effective import Setting, write_rules
from chilkoot.language.json_schema import json_schema
from chilkoot.language.merge import Loader
from chilkoot.language.nodes import MAX_BYTES
from chilkoot.language.rules import (
    Level,
    Rules,
    Variant,
    VariantTest,
    canonical_text,
    from_canonical,
    rules_hash,
)
from chilkoot.language.samples import failed_test
from chilkoot.language.schema import ID_PATTERN, KEYS, Key
from chilkoot.language.starter import starter

__all__ = [
    "CODES",
    "ID_PATTERN",
    "KEYS",
    "MAX_BYTES",
    "Code",
    "Diagnostic",
    "Key",
    "Level",
    "Loader",
    "Place",
    "Rules",
    "Setting",
    "Severity",
    "Source",
    "Variant",
    "VariantTest",
    "canonical_text",
    "check_text",
    "compile_variant",
    "effective_rules",
    "effective_settings",
    "explain",
    "failed_test",
    "from_canonical",
    "has_errors",
    "in_order",
    "json_schema",
    "name_of_id",
    "render_github",
    "render_json",
    "render_text",
    "rules_hash",
    "starter",
    "write_rules",
]
