"""The names of the strata: the four cells of a comparison, the silent one split by whether a text holds a trigger."""

BASELINE_ONLY, CANDIDATE_ONLY, BOTH = "baseline_only", "candidate_only", "both"
TRIGGER, NO_TRIGGER = "neither_trigger", "neither_no_trigger"
STRATA = (BASELINE_ONLY, CANDIDATE_ONLY, BOTH, TRIGGER, NO_TRIGGER)
DISAGREEMENTS = (BASELINE_ONLY, CANDIDATE_ONLY)
SILENT = (TRIGGER, NO_TRIGGER)
FOUND = {"baseline": (BASELINE_ONLY, BOTH), "candidate": (CANDIDATE_ONLY, BOTH)}
"""The strata that a detector takes for leaks; it is silent on the others."""
TITLES = {
    BASELINE_ONLY: "the baseline alone",
    CANDIDATE_ONLY: "the candidate alone",
    BOTH: "both",
    TRIGGER: "neither, with a trigger",
    NO_TRIGGER: "neither, no trigger",
}
"""For a person."""
