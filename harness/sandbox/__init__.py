"""The runner of untrusted environments."""
