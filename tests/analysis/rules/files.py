"""Rule files for tests."""


def file(rules: str, *, leak: str | None = None, clean: str = "nothing", more: str = "") -> str:
    """A rule file with these rules; without a leak of one's own it has a rule and an example that agree."""
    own = '[[rule]]\nliterals = ["OWN LEAK"]\n' if leak is None else ""
    return f"""name = "test-rules"
summary = "For tests."
[[rule]]
{rules}
{own}
[[leak]]
why = "it leaks"
content = '{leak or "OWN LEAK"}'
tools = ["ls"]
{more}
[[clean]]
why = "it is clean"
content = '{clean}'
tools = ["ls"]
"""


CALLS = file('literals = ["<function="]\ntier = "certain"', leak="<function=ls>")
