#!/bin/sh
# References parsed, made canonical, hashed and resolved, inside the real-shaped logs of this folder;
# how the sessions in them hang together, and what they used.
# `make demo` runs it; BIN is where the command `sessionref` is installed.
set -eu

PATH="$(cd "${BIN:-.venv/bin}" && pwd):$PATH"
cd "$(dirname "$0")"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

claude=claude-code:93c9da93-7ffb-498e-afc1-2798ea05112e
codex=codex:01a023a7-e1c0-7348-9af0-f9c443fc35f8

bold= dim= plain=
if [ -t 1 ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi

title() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# Shows a command and runs it; what it finds may be what makes it end with 1.
run() {
    printf '%s$ sessionref' "$dim"
    for argument; do
        case "$argument" in
            *['#%~']*) printf " '%s'" "$argument" ;;
            *) printf ' %s' "$argument" ;;
        esac
    done
    printf '%s\n' "$plain"
    sessionref "$@" 2>&1 || [ $? -eq 1 ]
    echo
}

title 'A reference, taken apart'
run parse 't3-code:6f1d2c3a:thread%3Adelegated-task#callId=edit%3A22'

title 'What is none, and why'
run parse 'codex::%zz'

title 'One session has one canonical form and one digest, however it is written'
run canonical "$codex" "com.openai.$codex" "$codex#turnId=t1"
run digest "$codex" "com.openai.$codex"

title 'Native logs, written as streams'
printf '%s$ sessionref convert codex | cut -c 1-110 | head -n 5%s\n' "$dim" "$plain"
sessionref convert codex | cut -c 1-110 | head -n 5
echo

title 'A record, an entity and a turn in a Claude Code log and in a Codex log'
run resolve claude-code "$claude#334172fb-b0e3-412d-94a6-371373a52cad"
run resolve claude-code "$claude#callId=toolu_01XjaQEfBBm8WG815CwDmB6N"
run resolve claude-code "$claude#inferenceId=msg_01S2duKjhZTKJ34vrJfoju3L"
run resolve codex "$codex#line/6"
run resolve codex "$codex#callId=call_3ZuEnYyYtdkK4omcwSACg6so"
run resolve codex "$codex#turnId=01a023a7-e1c0-7339-b141-5c4cb9903681"

title 'In a fork the same call ID stands again: a raw ref that could mean either is not guessed'
run resolve codex callId=call_3ZuEnYyYtdkK4omcwSACg6so

title 'The same in a stream, with the record itself'
sessionref convert codex --into "$out"
(cd "$out" && run resolve . "$codex#line/6" --show)

title 'How these sessions hang together: a subagent, forks, a wrapper, and a parent that is missing'
run tree claude-code codex t3-code

title 'What they used, counted once: copies of a fork and reports of a wrapper are no second use'
run usage claude-code codex t3-code
