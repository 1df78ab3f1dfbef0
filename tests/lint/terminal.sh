#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What somebody else wrote reaches a terminal through server/base/shown.c only, which lets no control character pass, or as
# a cell of tools/qmctl/session/output.c. Every other source and header prints whole words of its own: puts("..."),
# fputs("...", stream), putchar('.'), and hands none of these functions on, by a pointer or a macro. Programs that measure
# print figures of their own as they like, but no struct text.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

# They print what stands in the program, and main.c of the server the configuration that it was given.
own_words='^(server/base/(shown|must)|server/process/main|tools/lab/volunteers/figures/run_report)\.c:'
own_words="$own_words|^tools/qmctl/(session/output|help|manual_command|completion_command|main)\.c:"
measuring='^tools/lab/'
# Anywhere, since a pointer or a macro prints as well.
prints='[^a-z_](v?f?printf|v?dprintf|putc|fputc|fwrite|putw|perror|psignal|[a-z]+_unlocked)([^a-z_]|$)'
prints="$prints|[^a-z_]write\\((1|2|STD(OUT|ERR)_FILENO)|<err(or)?\.h>"
puts_no_word="[^a-z_](puts|fputs|putchar)([^a-z_(]|\\([^\"']|\$)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each statement as one line: FILE:LINE, a tab, its text.
cat >"$work/statements.awk" <<'AWK'
FNR == 1 { statement = "" }
{
    sub(/^[ \t]+/, "")
    if (/^(\/\*|\*|#include ")/)
        next
    sub(/\/\*.*\*\//, "")
    sub(/format\(printf,/, "")
    if (statement == "")
        line = FNR
    statement = statement " " $0
    if (/[;{}]$/ || (statement ~ /^ #/ && !/\\$/)) {
        print FILENAME ":" line "\t" statement
        statement = ""
    }
}
AWK
find server db config tools -name '*.[ch]' | sort | xargs awk -f "$work/statements.awk" >"$work/statements"
grep -E "$prints|$puts_no_word" "$work/statements" >"$work/prints" || true
if [ ! -s "$work/prints" ]; then
    echo "nothing prints: this looks in the wrong place" >&2
    exit 1
fi
{
    grep -vE "$own_words|$measuring" "$work/prints" || true
    grep -vE "$own_words" "$work/prints" | grep -E "$measuring" | grep 'TEXT_FORMAT' || true
} >"$work/refused"
while IFS=$'\t' read -r place statement; do
    echo "$place: may print what a terminal obeys:${statement:0:120}" >&2
done <"$work/refused"
test ! -s "$work/refused"
