"""Bytes to records to an index: reading streams tolerantly, and resolving refs in one."""
