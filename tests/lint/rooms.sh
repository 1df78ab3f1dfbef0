#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # backquotes are Markdown's
# The picture of the rooms in ARCHITECTURE.md is what its list of rooms says: each room stands one
# line above the highest room that it uses. With --write, the picture is made anew.
set -euo pipefail
cd "$(dirname "$0")/../.."

picture() {
    sed -n '/^```rooms$/,/^```$/p' ARCHITECTURE.md | grep -v '^```' | awk -F': *' '
        {
            level[$1] = 1
            count = split($2, used, " ")
            for (i = 1; i <= count; i++)
                if (level[used[i]] + 1 > level[$1])
                    level[$1] = level[used[i]] + 1
            most = level[$1] > most ? level[$1] : most
            rooms[level[$1]] = rooms[level[$1]] "   " $1
        }
        END {
            for (i = most; i > 0; i--)
                printf "%2d %s\n", i, rooms[i]
        }'
}

if [ "${1:-}" = --write ]; then
    picture >/tmp/rooms.$$
    sed -i -e '/^```picture$/,/^```$/{//!d}' -e "/^\`\`\`picture\$/r /tmp/rooms.$$" ARCHITECTURE.md
    rm /tmp/rooms.$$
fi
if ! diff <(picture) <(sed -n '/^```picture$/,/^```$/p' ARCHITECTURE.md | grep -v '^```'); then
    echo "the picture of the rooms is not what the list says: tests/lint/rooms.sh --write" >&2
    exit 1
fi
echo "rooms: $(picture | wc -l) levels"
