"""What leaves a store: the texts of what is old, or runs and old generations wholly; and the room that they took.

What stays and what goes stands in docs/retention.md. Each change is one transaction, so that an end at any moment
leaves the old state or the new one.
"""
