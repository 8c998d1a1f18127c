"""What the sample's agents are asked, which tools they have, and what they say. All of it is composed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.dice import Dice
from data.markup import Call

Tool = dict[str, Any]


def _tool(name: str, description: str, **properties: str) -> Tool:
    """A tool whose arguments are all required."""
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return {"name": name, "description": description, "parameters": schema}


SLOTS: Mapping[str, Sequence[str]] = {
    "file": (
        "src/cache.py", "src/queue.py", "src/report/table.py", "lib/parser.go", "app/forms.ts",
        "tests/test_cache.py", "docs/setup.md", "config/limits.toml", "src/units.rs", "web/map.css",
    ),
    "word": ("TODO", "timeout", "retry_after", "parse_date", "max_items", "deprecated", "flush"),
    "service": ("billing", "search", "thumbnails", "mailer", "sessions", "geocoder", "exports"),
    "metric": ("error_rate", "p95_latency", "queue_depth", "open_files", "memory_used"),
    "city": ("Oslo", "Lisbon", "Graz", "Tampere", "Ghent", "Bologna", "Łódź", "Málaga", "Zürich", "Aarhus"),
    "other": ("Bergen", "Porto", "Vienna", "Turku", "Bruges", "Florence", "Gdańsk", "Seville", "Basel"),
    "day": ("2026-11-30", "2026-12-01", "2026-12-04", "2026-12-05", "2026-12-11", "2026-12-12"),
    "hour": ("07:10", "08:40", "09:25", "11:05", "13:50", "16:15", "18:30"),
    "number": ("2", "3", "4", "6", "9", "12", "17", "31"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of work: its tools, the calls an agent makes for it, and what it says at the end."""

    name: str
    tools: tuple[Tool, ...]
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    answers: tuple[str, ...]

    def call(self, dice: Dice) -> Call:
        name, arguments = dice.pick(self.calls)
        filled = {key: fill(dice, part) if isinstance(part, str) else part for key, part in arguments.items()}
        return Call(name, filled)

    def answer(self, dice: Dice) -> str:
        return f"{fill(dice, dice.pick(self.answers))} {fill(dice, dice.pick(CLOSINGS))}"


def fill(dice: Dice, text: str) -> str:
    """The text with each `[slot]` replaced by one of its values; other brackets stay."""
    for slot, values in SLOTS.items():
        while f"[{slot}]" in text:
            text = text.replace(f"[{slot}]", dice.pick(values), 1)
    return text


LEADS = (
    "I'll look at that first.", "Let me check.", "One moment, I need the current state.", "Next step:",
    "That needs one more look.", "I'll confirm this before I answer.", "Checking the details now.",
)  # fmt: skip

THOUGHTS = (
    "The question needs fresh data, so a lookup comes first.",
    "I have part of the answer; one more value is missing.",
    "The last result narrows it down. Verify, then summarise.",
    "Nothing here is urgent; go step by step.",
)

CLOSINGS = (
    "Tell me if you want the details.", "Nothing else stood out.", "I checked [number] places in all.",
    "I can go further if that helps.", "That is all I found.", "The rest looks as expected.",
)  # fmt: skip

NUDGED_ANSWERS = (
    "No further lookup is needed: the earlier result already answers this.",
    "I could not get more out of the tools, so here is what is known so far: the last value still holds.",
    "To sum up in words: nothing has changed since the last check.",
)

CODING = Task(
    "coding",
    (
        _tool("read_file", "Read a text file of the project.", path="string"),
        _tool("search_text", "Find lines that hold a text.", pattern="string", path="string"),
        _tool("write_file", "Replace a file's text.", path="string", content="string"),
        _tool("run_tests", "Run the tests of a path.", path="string"),
    ),
    (
        ("read_file", {"path": "[file]"}),
        ("search_text", {"pattern": "[word]", "path": "src"}),
        ("search_text", {"pattern": "[word]", "path": "[file]"}),
        ("write_file", {"path": "[file]", "content": "# checked on [day]\nlimit = [number]\n"}),
        ("run_tests", {"path": "tests"}),
    ),
    (
        "`[word]` is set in [file] and read in [number] other places; I changed the default; tests pass.",
        "The failing test compared local times. It now compares UTC, and its [number] tests pass.",
        "[file] has no caller left for `[word]`, so it can go. I left the file as it was.",
        "The loop in [file] stops one item early: the bound should be `<=`. After the change the tests pass.",
    ),
)

OPERATIONS = Task(
    "operations",
    (
        _tool("list_services", "List the services of a group.", group="string"),
        _tool("read_log", "Read the last lines of a service's log.", service="string", lines="integer"),
        _tool(
            "query_metric",
            "Read a metric over some hours.",
            service="string",
            metric="string",
            hours="integer",
        ),
        _tool("restart_service", "Restart a service.", service="string", graceful="boolean"),
    ),
    (
        ("list_services", {"group": "web"}),
        ("read_log", {"service": "[service]", "lines": 200}),
        ("query_metric", {"service": "[service]", "metric": "[metric]", "hours": 24}),
        ("query_metric", {"service": "[service]", "metric": "[metric]", "hours": 2}),
        ("restart_service", {"service": "[service]", "graceful": True}),
    ),
    (
        "[service] is healthy again: [metric] fell back to its usual level after the restart at [hour].",
        "The rise of [metric] on [service] began at [hour], [number] minutes after the nightly job started.",
        "[service] logs the same warning [number] times an hour. It is harmless, but it hides real ones.",
        "Two services share a disk, and [service] fills it. Moving its cache would be enough.",
    ),
)

WEATHER = Task(
    "weather",
    (
        _tool("get_forecast", "Weather of a place on a day.", city="string", day="string"),
        _tool("get_alerts", "Weather warnings of a place.", city="string"),
        _tool("get_sun", "Sunrise and sunset.", city="string", day="string"),
    ),
    (
        ("get_forecast", {"city": "[city]", "day": "[day]"}),
        ("get_forecast", {"city": "[other]", "day": "[day]"}),
        ("get_alerts", {"city": "[city]"}),
        ("get_sun", {"city": "[city]", "day": "[day]"}),
    ),
    (
        "In [city] it stays dry on [day], with light wind and about [number] °C at noon.",
        "Expect rain in [city] from [hour] on; [other] gets it [number] hours later. No warnings are out.",
        "Of the two, [other] has the better weather on [day]: clear until the evening, then clouds.",
    ),
)

TRAVEL = Task(
    "travel",
    (
        _tool("find_trains", "Trains between two cities.", origin="string", target="string", day="string"),
        _tool("find_rooms", "Rooms in a city.", city="string", day="string", nights="integer"),
        _tool("get_timetable", "Departures of a station.", station="string", after="string"),
    ),
    (
        ("find_trains", {"origin": "[city]", "target": "[other]", "day": "[day]"}),
        ("find_rooms", {"city": "[other]", "day": "[day]", "nights": 2}),
        ("get_timetable", {"station": "[city]", "after": "[hour]"}),
    ),
    (
        "The [hour] train from [city] reaches [other] before noon and needs no change. It still has seats.",
        "For [day] there are [number] rooms in [other] that fit; the quietest is near the station.",
        "No direct train runs on [day]. The best way is by [other], with [number] minutes to change.",
    ),
)

TASKS = (CODING, OPERATIONS, WEATHER, TRAVEL)
