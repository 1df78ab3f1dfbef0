#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The lints see what they are for. Each row here makes one fault in a copy of the tree; the lint of that row has to fail
# there and to say what is expected, and without a fault it passes. Those that compile or format every file are not asked.
# shellcheck disable=SC2016 # backquotes and $ are not for the shell
set -euo pipefail
cd "$(dirname "$0")/../.."

QM_BINARY_DIR=$(realpath "${QM_BINARY_DIR:-build/debug}")
export QM_BINARY_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -c --exclude=./build --exclude=./.git --exclude=./.quickstart . | tar -x -C "$work"
cd "$work"

failed=0 faults=0
# passes LINT: it has nothing to say about the copy as it is.
passes() {
    tests/lint/"$1".sh >"$work.said" 2>&1 && return
    echo "$1 fails without a fault: $(cat "$work.said")" >&2
    failed=1
}

# fault LINT EXPECTED FILE SED-SCRIPT: FILE as the script changes it.
fault() {
    local lint=$1 expected=$2 file=$3 script=$4
    faults=$((faults + 1))
    cp -p "$file" "$work.kept"
    sed -i -E "$script" "$file"
    if cmp -s "$file" "$work.kept"; then
        echo "$lint: $script changes nothing in $file" >&2
        failed=1
    elif tests/lint/"$lint".sh >"$work.said" 2>&1; then
        echo "$lint does not see that in $file: $script" >&2
        failed=1
    elif ! grep -qF -- "$expected" "$work.said"; then
        echo "$lint does not say \"$expected\" of $file, but: $(head -n 3 "$work.said")" >&2
        failed=1
    fi
    cp -p "$work.kept" "$file"
}
trap 'rm -rf "$work" "$work.said" "$work.kept"' EXIT

fault shell 'does not begin with' tools/bench '/^export LC_ALL=/d'
fault shell 'does not begin with' tools/lab/campaign/drive 's/ CDPATH=//'

passes includes
arena=server/base/arena.c
fault includes 'may not include <fcgi_stdio.h>' tests/unit/test_arena.c '0,/^#include </s//#include <fcgi_stdio.h>\n&/'
fault includes 'may not include <uthash.h>' $arena '0,/^#include </s//#include <uthash.h>\n&/'
fault includes 'may not include <zlib.h>' $arena '0,/^#include </s//#include <zlib.h>\n&/'
fault includes 'may not include <libxml/tree.h>' $arena '0,/^#include </s//   #  include <libxml\/tree.h>\n&/'
fault includes 'may not include "db/db.h"' $arena '0,/^#include </s//  #include "db\/db.h"\n&/'
fault includes 'at the beginning of the line' $arena '0,/^#include </s//# include </'
fault includes 'banned.h is not included last' $arena '/banned\.h/d'
fault includes 'limits does not use db' ARCHITECTURE.md 's/^limits: base config parse$/& db/'
fault includes 'no block' ARCHITECTURE.md 's/^```rooms$/```/'

passes names
fault names 'no rows of "Where is it decided?"' ARCHITECTURE.md 's/^## Where is it decided\?/## Where/'
fault names 'no function or no file for' ARCHITECTURE.md 's/^(\| Is a reported result booked\? \|) `report_judge`/\1 judging/'
fault names 'no report_judges in' ARCHITECTURE.md 's/`report_judge`/`report_judges`/'
fault names 'there is no tools/tests' tests/README.md 's/`tools\/test`/`tools\/tests`/'
fault names 'there is no lint/nothing.sh' tests/requirements.md 's/`lint\/requirements\.sh`/`lint\/nothing.sh`/'
fault names 'tag arena stands more than once' server/base/clock.h '1s/$/\nstruct arena {\n};/'
touch config/arena.c
fault names 'base name arena stands more than once' $arena '1s/$/ /'
rm config/arena.c

passes citations
fault citations 'there is no protokol.c' $arena '1s/$/\n\/* See protokol.c. *\//'
fault citations 'there is no glossary(7) 9' $arena '1s/$/\n\/* As glossary(7) 9 says. *\//'
fault citations 'there is no policy(7) 99.1' config/config.xml '1s/^/<!-- As policy(7) 99.1 says. -->\n/'
fault citations 'whose section it is' $arena '1s/$/\n\/* See section 4.2. *\//'
fault citations 'there is no protocol(7) 99.9' server/protocol.7.md 's/Section 4\.1/Section 99.9/'
fault citations 'there is no requirement 9-9' $arena '1s/$/\n\/* This is requirement 9-9. *\//'

passes tables
fault tables 'nothing uses config.ban_xyz' config/options.def 's/^OPTION\(ban_os,/OPTION(ban_xyz,/'
fault tables 'nothing uses config.name' config/options.def 's/^OPTION\(ban_os,/OPTION(name,/'
fault tables 'no rows of COUNTER' server/base/counters.def 's/^COUNTER/COUNTS/'

fault names 'it has subcommands and is not called' tools/qmctl/why/why_judge.c '$s/$/\nenum exit_code command_judge(struct session *session)/'

passes statements
fault statements 'nobody runs' db/statements.def '0,/^STATEMENT\(/s//STATEMENT(nobody_runs_this, BULK, "x")\n&/'

passes circles
fault circles 'in a circle: server/pool/had_before.c server/pool/pool_lock.c' server/pool/pool_lock.c 's/pthread_mutex_unlock/had_clear(\&pool->had);\n    &/'

passes rooms
fault rooms 'the picture of the rooms' ARCHITECTURE.md 's/^edf: base parse limits version$/edf: base parse limits/'

passes pages
fault pages 'characters' DECISIONS.md '3s/$/ and so on, and so on, and so on, and so on, and so on, and so on, and so on, and so on/'
fault pages 'a paragraph of' DECISIONS.md '3s/^/1\n2\n3\n4\n5\n6\n7\n/'

passes terminal
fault terminal 'may print what a terminal obeys' tools/qmctl/hosts/queue_command.c 's/shown_line\(stdout, "host %"/printf("host %"/'
fault terminal 'may print what a terminal obeys' tools/qmctl/session/confirm.c 's/shown_write\(stderr, words, .*\)/fputs(text, stderr)/'
fault terminal 'may print what a terminal obeys' tools/lab/qmload/main.c 's/shown_line\(stderr,/fprintf(stderr,/'

passes requirements
fault requirements 'there is no' tests/requirements.md 's/unit\/test_reply\.c: a_job/unit\/test_replies.c: a_job/'
fault requirements 'does not run' tests/unit/test_reply.c '/^ *CASE\(a_job_is_written_in_full\),/d'
fault requirements 'numbers missing' tests/requirements.md '/^\| 0-4 /d'
fault requirements 'the compatibility tests name no files' tests/README.md 's/^## Compatibility/## Old/'

passes manuals
fault manuals 'no word about' server/protocol.7.md 's/`code_sign_key`/`code_key`/g'
fault manuals 'nothing is like' server/policy/refusal/reasons.def 's/^REASON/REASONS/'
fault manuals 'qmctl.1.md is stale' tools/qmctl/qmctl.1.md '$s/$/ ./'

echo "faults: $faults"
exit "$failed"
