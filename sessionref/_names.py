"""The names of the registry. Written by tools/compile_names.py."""

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
