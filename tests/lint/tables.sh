#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row of a table is used: an option that nothing reads, a counter that stays 0, a reason that is
# never given, a column that is read for nobody. (The unit tests ask whether rows are sorted,
# described and within their bounds; statements.sh asks about statements.)
set -euo pipefail
export LC_ALL=C # one order for sort and comm
cd "$(dirname "$0")/../.."

# table                   row        how code names it, behind this; "config." is . or ->
tables='
config/options.def        OPTION     config.
server/base/counters.def  COUNTER    COUNTER_
server/policy/refusal/reasons.def REASON     REASON_
server/parse/client_ages.def      CLIENT_AGE CLIENT_
db/columns.def            COLUMN
'

words=$(mktemp)
trap 'rm -f "$words"' EXIT
# Words of all sources and tables, and options as "config.word", without comments, the insides of the sources' strings
# and the rows that are being asked about.
# shellcheck disable=SC2016 # $ is awk's
find config db server tools -name '*.[ch]' -o -name '*.def' | sort | xargs awk '
    FNR == 1 { in_comment = 0 }
    /^(OPTION|COLUMN|COUNTER|REASON)\(/ { skips = 1 }
    {
        line = $0
        if (in_comment) {
            if (!match(line, /\*\//))
                next
            line = substr(line, RSTART + 2)
            in_comment = 0
        }
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
        if (match(line, /\/\*/)) {
            line = substr(line, 1, RSTART - 1)
            in_comment = 1
        }
        if (FILENAME ~ /\.[ch]$/) # a statement of a table names columns in its text
            gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        gsub(/offsetof\(struct config, /, "config.", line)
        gsub(/->/, ".", line)
        if (!skips)
            print line
        if ($0 ~ /\)$/)
            skips = 0
    }' | grep -oE '(config\.)?[A-Za-z_][A-Za-z_0-9]*' | sed 's/^config\.\(.*\)/&\n\1/' | sort -u >"$words"

failed=0
while read -r table row prefix; do
    [ -n "$table" ] || continue
    if [ "$row" = COLUMN ]; then
        names=$(sed -nE "s/^$row\([a-z_0-9]+, ([a-z_0-9]+).*/\1/p" "$table")
    else
        names=$(sed -nE "s/^$row\(([A-Za-z_0-9]+).*/\1/p" "$table")
    fi
    if [ -z "$names" ]; then
        echo "$table: no rows of $row" >&2
        failed=1
    fi
    while IFS= read -r name; do
        echo "$table: nothing uses $name" >&2
        failed=1
    done < <(awk -v prefix="$prefix" '{ print prefix $0 }' <<<"$names" | sort -u | comm -23 - "$words")
done <<<"$tables"
exit "$failed"
