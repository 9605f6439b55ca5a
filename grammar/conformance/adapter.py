"""The package itself, as an implementation under test: what an adapter looks like.

python grammar/conformance/runner.py python grammar/conformance/adapter.py
"""

from __future__ import annotations

import json
import sys
from typing import Any

import sessionref as sr


def main() -> None:
    """Answer each request on stdin with one line."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = answered(request)
        except sr.InvalidReference as error:
            answer = {"error": error.code}
        print(json.dumps(answer))


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request; raises where the input is no reference."""
    operation = request["operation"]
    if operation == "equal":
        left, right = sr.parse(request["left"]), sr.parse(request["right"])
        return {"sameSession": left.key == right.key, "sameReference": left == right}
    text = text_of(request)
    if operation == "canonical":
        return {
            "canonical": sr.canonical(text),
            "digest": sr.digest(text),
            "isCanonical": sr.is_canonical(text),
        }
    if operation == "raw-ref":
        ref = sr.Ref.from_raw(text)
        try:
            fragment = ref.fragment()
        except sr.InvalidReference:
            fragment = None
        return {"ref": described(ref), "fragment": fragment}
    reference = sr.parse(text)
    return {
        "agent": reference.agent,
        "namespace": reference.namespace,
        "sessionId": reference.session_id,
        "ref": None if reference.ref is None else described(reference.ref),
        "minimal": str(reference),
    }


def text_of(request: dict[str, Any]) -> str:
    """The input, also where it holds lone surrogates."""
    if "inputUtf16" in request:
        return bytes.fromhex(request["inputUtf16"]).decode("utf-16-be", "surrogatepass")
    return bytes.fromhex(request["inputUtf8"]).decode()


def described(ref: sr.RecordRef | sr.EntityRef | sr.TurnRef) -> dict[str, str]:
    """A ref as the vectors write it."""
    match ref:
        case sr.RecordRef(record_id):
            return {"kind": "record", "recordId": record_id}
        case sr.EntityRef(key, value):
            return {"kind": "entity", "key": key, "value": value}
        case sr.TurnRef(turn_id):
            return {"kind": "turn", "value": turn_id}


if __name__ == "__main__":
    main()
