"""Names agent sessions and what is inside them."""
