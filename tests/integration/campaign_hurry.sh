#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short campaign with batches in a hurry: two servers and two transitions, which make copies of late
# jobs, are killed. No job has more results than its bounds allow, no answer is lost, and the
# audit that says so finds every rule that is broken on purpose.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadbd mariadb

"$QM_SOURCE_DIR/tools/lab/campaign/drive" --build "$QM_BINARY_DIR" --hurry --once --hosts 24 \
    --faults server_kill,transition_kill,server_stop,transition_kill,server_kill --self-test "$work/campaign" >"$work/campaign.out" 2>"$work/campaign.log"
status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$work/campaign.log")"
claim "nothing is lost, double or beyond its bounds, and the audit finds every violation" test $status -eq 0
cat "$work/campaign.out"
figure() { awk -v name="$1" '$1 == name { print $2 }' "$work/campaign.out"; }
claim "late jobs had copies ($(figure jobs_with_copies))" test "$(figure jobs_with_copies)" -gt 0
claim "servers and transitions were killed" test "$(grep -c kill "$work/campaign/faults")" = 4
claim "every rule was broken" test "$(grep -c '^by SQL .*: found$' "$work/campaign.out")" = 4
finish
