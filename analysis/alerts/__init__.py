"""Alerts that may be looked at every day: rules, what they say of each line, and what people said of that."""
