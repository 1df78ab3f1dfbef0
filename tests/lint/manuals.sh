#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manuals say what the programs say: pages made from tables are fresh, every option of a --help stands
# on its page and no other does, every element of requests and replies on that of the protocol.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

: "${QM_BINARY_DIR:=build/debug}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# made FILE COMMAND...: the file is what the command prints.
made() {
    local file=$1
    shift
    "$@" >"$work/made" || failed=1
    cmp -s "$work/made" "$file" && return
    echo "$file is stale: $* >$file" >&2
    failed=1
}
made tools/qmctl/qmctl.1.md "$QM_BINARY_DIR/qmctl" manual
made config/config.xml.5.md "$QM_BINARY_DIR/quartermaster" --write-manual

# same_options PAGE COMMAND...: what the command's help and the page call options.
same_options() {
    local page=$1
    shift
    "$@" --help | grep -oE -- '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' |
        grep -vE '^--(help|usage|version|project)$' | sort -u >"$work/help"
    sed -n '/^## Options/,/^## [^O]/p' "$page" | grep -oE -- '^- `(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' |
        grep -vE '^--(help|usage|version|project)$' | sort -u >"$work/page"
    diff "$work/help" "$work/page" >"$work/difference" && return
    echo "$page: options only in the help (<) or only on the page (>)" >&2
    grep '^[<>]' "$work/difference" >&2
    failed=1
}
same_options server/quartermaster.8.md "$QM_BINARY_DIR/quartermaster"
same_options tools/qmload/qmload.1.md "$QM_BINARY_DIR/qmload"
same_options tools/volunteers/qmvolunteers.1.md "$QM_BINARY_DIR/qmvolunteers"
same_options tools/qmctl/qmctl-why.1.md "$QM_BINARY_DIR/qmctl" why

{
    grep -oE '^ELEMENT\([a-z_]+' server/reply/reply_elements.def | cut -d'(' -f2
    grep -oE '^[A-Z_]+\([A-Z_]+, "[A-Za-z_0-9]+"' server/parse/elements.def | cut -d'"' -f2
} | sort -u |
    while read -r element; do
        grep -q "\`$element\`" server/protocol.7.md || echo "server/protocol.7.md: no word about $element"
    done >"$work/elements"
grep -oE '^REASON\([A-Z0-9_]+, "[a-z0-9_]+"' server/policy/refusal/reasons.def | cut -d'"' -f2 |
    while read -r word; do
        grep -q "\`$word\`" tools/qmctl/qmctl-why.1.md ||
            echo "tools/qmctl/qmctl-why.1.md: no word about $word"
    done >>"$work/elements"
grep -oE '^    \{"[a-z_]+", OF' tools/volunteers/crowd/scenario.c | cut -d'"' -f2 |
    while read -r name; do
        grep -q "\`$name\`" tools/volunteers/qmvolunteers.1.md ||
            echo "tools/volunteers/qmvolunteers.1.md: no word about $name"
    done >>"$work/elements"
[ ! -s "$work/elements" ] || failed=1
cat "$work/elements" >&2
exit "$failed"
