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
    if [ ! -s "$work/help" ]; then
        echo "$page: the help has no options" >&2
        failed=1
    fi
    diff "$work/help" "$work/page" >"$work/difference" && return
    echo "$page: options only in the help (<) or only on the page (>)" >&2
    grep '^[<>]' "$work/difference" >&2
    failed=1
}
same_options server/quartermaster.8.md "$QM_BINARY_DIR/quartermaster"
same_options tools/lab/qmload/qmload.1.md "$QM_BINARY_DIR/qmload"
same_options tools/lab/campaign/qmcampaign.1.md "$QM_BINARY_DIR/qmcampaign"
same_options tools/lab/volunteers/qmvolunteers.1.md "$QM_BINARY_DIR/qmvolunteers"
same_options tools/qmctl/qmctl-why.1.md "$QM_BINARY_DIR/qmctl" why

# told PAGE SOURCE PATTERN SEPARATOR: the page has a word about each name that the source has by this pattern, behind
# the first separator.
told() {
    local page=$1 source=$2 name
    grep -oE "$3" "$source" | cut -d"$4" -f2 | sort -u >"$work/names"
    if [ ! -s "$work/names" ]; then
        echo "$source: nothing is like $3" >&2
        failed=1
    fi
    while read -r name; do
        grep -q "\`$name\`" "$page" && continue
        echo "$page: no word about $name" >&2
        failed=1
    done <"$work/names"
}
told server/protocol.7.md server/reply/reply_elements.def '^ELEMENT\([a-z_]+' '('
told server/protocol.7.md server/parse/elements.def '^[A-Z_]+\([A-Z_]+, "[A-Za-z_0-9]+"' '"'
told tools/qmctl/qmctl-why.1.md server/policy/refusal/reasons.def '^REASON\([A-Z0-9_]+, "[a-z0-9_]+"' '"'
told tools/lab/volunteers/qmvolunteers.1.md tools/lab/volunteers/crowd/scenario.c '^    \{"[a-z_]+", OF' '"'
told tools/lab/campaign/qmcampaign.1.md tools/lab/campaign/rules.def '^RULE\([a-z_]+' '('
told server/running.7.md server/check/database_settings.def '^SETTING\([a-z_]+' '('
told server/moving.7.md server/adoption/adoption.h ' LEVEL\([A-Z]+, "[a-z]+"' '"'
for part in config folder tables; do
    told server/moving.7.md "server/adoption/adoption_$part.c" 'ADOPTION_[A-Z]+, "[a-z]+"' '"'
done
{ tools/lab/campaign/drive --list && tools/lab/campaign/drive --galera --list; } >"$work/campaign_faults"
told tools/lab/campaign/qmcampaign.1.md "$work/campaign_faults" '^[a-z_]+' '('
tools/lab/campaign/answers --list >"$work/campaign_answers"
told tools/lab/campaign/qmcampaign.1.md "$work/campaign_answers" '^[a-z_]+' '('
tools/lab/campaign/submissions --list >"$work/campaign_submissions"
told tools/lab/campaign/qmcampaign.1.md "$work/campaign_submissions" '^[a-z_]+' '('
exit "$failed"
