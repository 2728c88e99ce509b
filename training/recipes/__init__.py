"""Recipes as data: TOML files, read by `training.recipe`."""
