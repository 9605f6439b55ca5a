"""How sessions hang together: facets, originality, the forest, totals that count nothing twice."""
