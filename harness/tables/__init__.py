"""Tables of many runs: definition, evidence, numbers, words, and what prints them. The front door is `table`."""
