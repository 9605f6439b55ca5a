"""Benchmarks of `sessionref`, run as ``python -m bench``.

docs/performance.md says how they measure.
"""
