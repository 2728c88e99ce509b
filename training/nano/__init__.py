"""The nano organism: a world, a tokenizer and a warm start small enough for two CPU cores."""
