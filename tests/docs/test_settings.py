"""docs/settings.md: every setting with its default and what it is for, and no other."""

import re

from api.settings import PREFIX, Settings
from tests.test_docs import ROOT

ROW = re.compile(rf"^\| `({PREFIX}\w+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_table_is_that_of_the_settings() -> None:
    found = ROW.findall((ROOT / "docs" / "settings.md").read_text("utf-8"))
    assert found == [
        (f"{PREFIX}{name.upper()}", shown(field.default), field.description)
        for name, field in Settings.model_fields.items()
    ]


def shown(default: object) -> str:
    return "–" if default is None else f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
