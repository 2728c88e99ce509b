"""The gate of a CI: one run against a committed reference, with a known rate of false alarms."""
