"""How a model is measured, and where the evidence is kept. Imports nothing of the upper layers."""
