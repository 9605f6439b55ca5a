"""Many streams at once: captures of sessions, and references between and inside them."""
