"""Checking streams: the rule book, and the rules that look at a stream for themselves."""
