"""The other rows of the table: sources of environments that are not self-play. May import every layer below."""
