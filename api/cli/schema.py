"""`leakdown schema`: the JSON Schema of a native record."""

import json


def schema() -> None:
    """Print the JSON Schema of one line of a native file."""
    from ingest.records import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
