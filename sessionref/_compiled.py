"""Regexes for session references, for `re.fullmatch`.

Generated from grammar/session_reference.lark by `python grammar/compile.py`. Do not edit.
"""

from __future__ import annotations

__all__ = [
    "AGENT_NAME",
    "CANONICAL",
    "COMPONENT",
    "ENTITY_KEYS",
    "MUST_ENCODE",
    "PCT_RUN",
    "PLAIN",
    "RECORD_ID",
    "REFERENCE",
    "SHORT_NAME",
    "TURN_KEY",
]

#: A session reference (ASR-061). Groups: agent, first component, second or None,
#: key and value of an entity or turn ref, record ID.
REFERENCE = r'([a-z0-9]++(?:[\-.][a-z0-9][a-z0-9]*+)*+):((?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[0-9A-Fa-f][0-9A-Fa-f])++)(?::((?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[0-9A-Fa-f][0-9A-Fa-f])++)|)(?:#(?:(messageId|callId|inferenceId|terminalId|planId|compactionId|requestId|turnId)=((?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[0-9A-Fa-f][0-9A-Fa-f])++)|([!"$&-9;<>-~\xa0-\ud7ff\ue000-\U0010ffff]++))|)'

#: A session reference of ASCII characters without any percent-encoding. Same groups.
PLAIN = r'([a-z0-9]++(?:[\-.][a-z0-9][a-z0-9]*+)*+):([!"$&-9;-~]++)(?::([!"$&-9;-~]++)|)(?:#(?:(messageId|callId|inferenceId|terminalId|planId|compactionId|requestId|turnId)=([!"$&-9;-~]++)|([!"$&-9;<>-~]++))|)'

#: A session reference in canonical form, as far as the registry leaves it open:
#: escapes where ASR-059 requires them and nowhere else, in uppercase, and no # part.
CANONICAL = r'[a-z0-9]++(?:[\-.][a-z0-9][a-z0-9]*+)*+:(?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[01][0-9A-F]|%2[035]|%3A|%7F|%C2%[89][0-9A-F])++(?::(?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[01][0-9A-F]|%2[035]|%3A|%7F|%C2%[89][0-9A-F])++|)'

#: An agent name (ASR-056).
AGENT_NAME = r"[a-z0-9]++(?:[\-.][a-z0-9][a-z0-9]*+)*+"

#: An agent's short name (ASR-056).
SHORT_NAME = "[a-z0-9]++(?:-[a-z0-9][a-z0-9]*+)*+"

#: A namespace, session ID, or value of a key, percent-encoded (ASR-059).
COMPONENT = r'(?:[!"$&-9;-~\xa0-\ud7ff\ue000-\U0010ffff]++|%[0-9A-Fa-f][0-9A-Fa-f])++'

#: A record ID that can stand after '#'.
RECORD_ID = r'[!"$&-9;<>-~\xa0-\ud7ff\ue000-\U0010ffff]++'

#: One character that ASR-059 requires to be percent-encoded.
MUST_ENCODE = r"[\x00-\x20#%:\x7f-\x9f]"

#: One or more percent-encoded octets.
PCT_RUN = "(?:%[0-9A-Fa-f][0-9A-Fa-f])++"

#: The keys of entity refs.
ENTITY_KEYS = (
    "messageId",
    "callId",
    "inferenceId",
    "terminalId",
    "planId",
    "compactionId",
    "requestId",
)

#: The key of turn refs.
TURN_KEY = "turnId"
