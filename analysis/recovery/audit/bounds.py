"""How many retries a run may have: by the policy that is asked for, else by that of its client. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.recovery.policies import Configured, Scope, policy

CLIENTS: Mapping[str, str] = {
    "goat": "goat",
    "openrouter-net": "openrouter-net",
    "openrouter.net": "openrouter-net",
    "foundry": "foundry",
    "foundry-local": "foundry",
}
"""The policy of a client, by its name in small letters."""
NO_POLICY = {"policy_unknown": "the client's policy is not known; name a policy to hold it to"}
NO_PLACE = {"place_untold": "the record tells no round or no attempt"}


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many retries within a scope, as `policy` allows."""

    policy: str
    most: int
    scope: Scope


def bound(client: str | None, given: Configured | None) -> Bound | None:
    """The bound of `given`, else of the policy of `client`; None where that is not known."""
    own = CLIENTS.get((client or "").strip().lower())
    held_to = given or (policy(own) if own else None)
    return Bound(held_to.id, held_to.most_retries, held_to.policy.scope) if held_to else None
