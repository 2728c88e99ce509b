"""Modules that run inside the jail alone, under their own names: they import nothing of ours (see `sandbox.runner`)."""
