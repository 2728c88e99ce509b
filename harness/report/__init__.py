"""Runs in one HTML file: scores, curves, differences, samples, environments, settings. `command` is the verb."""
