#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short campaign: each fault that one database can have comes once, beside a crowd that loses replies
# and repeats requests. Nothing that hosts were told is lost, double or against a rule; and the auditor
# that says so finds every rule that is broken on purpose.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadbd mariadb

"$QM_SOURCE_DIR/tools/lab/campaign/drive" --build "$QM_BINARY_DIR" --once --hosts 32 --self-test \
    "$work/campaign" >"$work/campaign.out" 2>"$work/campaign.log"
status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$work/campaign.log")"
claim "nothing is lost, double or broken, and the auditor finds every violation" test $status -eq 0
cat "$work/campaign.out"
figure() { awk -v name="$1" '$1 == name { print $2 }' "$work/campaign.out"; }
claim "jobs were handed out ($(figure hand_outs))" test "$(figure hand_outs)" -gt 500
claim "and acknowledged ($(figure acknowledged))" test "$(figure acknowledged)" -gt 500
claim "every machine was heard at the end" test "$(figure machines_unsettled)" = 0
claim "each fault came" test "$("$QM_SOURCE_DIR/tools/lab/campaign/drive" --list | wc -l)" = \
    "$(wc -l <"$work/campaign/faults")"
finish
