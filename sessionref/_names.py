"""The names of the registry and the entity keys. Written by tools/compile_names.py."""

#: The version of the built-in registry.
REGISTRY_VERSION = "1"

#: The short name of each registered reverse-DNS name.
SHORT_NAMES: dict[str, str] = {
    "com.anthropic.claude-code": "claude-code",
    "bot.cline.cline": "cline",
    "com.openai.codex": "codex",
    "com.github.copilot-cli": "copilot-cli",
    "com.cursor.cursor": "cursor",
    "com.google.gemini-cli": "gemini-cli",
    "io.github.block.goose": "goose",
    "dev.kiro.kiro": "kiro",
    "ai.openclaw.openclaw": "openclaw",
    "ai.opencode.opencode": "opencode",
    "io.github.badlogic.pi": "pi",
    "gg.ping.t3-code": "t3-code",
}

#: Every registered short name.
REGISTERED: frozenset[str] = frozenset(SHORT_NAMES.values())

#: The record types that each entity key refers to.
ENTITY_KEY_TYPES: dict[str, tuple[str, ...]] = {
    "messageId": ("message",),
    "callId": ("tool_call",),
    "inferenceId": ("inference",),
    "terminalId": ("terminal",),
    "planId": ("plan",),
    "compactionId": ("compaction",),
    "requestId": ("permission", "question",),
}
