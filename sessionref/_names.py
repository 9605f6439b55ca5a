"""Placeholder until the generated table lands."""

SHORT_NAMES = {"com.openai.codex": "codex", "com.anthropic.claude-code": "claude-code"}
