"""The rules of the pages by number: what each asks, how it binds, and what a stream shows of it."""
