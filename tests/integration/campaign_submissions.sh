#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short campaign about submissions: the process that takes batches of jobs, the database and nginx are
# killed at random beside scientists who submit. No batch that was answered is lost, none is made twice or
# half, no refused one leaves anything; and the audit that says so finds every rule that is broken on
# purpose.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need nginx mariadbd mariadb python3

campaign=$QM_SOURCE_DIR/tools/lab/campaign/submissions
"$campaign" --build "$QM_BINARY_DIR" --kills 5 --round 5 --self-test "$work/campaign" >"$work/campaign.out" 2>"$work/campaign.log"
status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$work/campaign.log")"
claim "nothing is lost, double or half, and the audit finds every violation" test $status -eq 0
cat "$work/campaign.out" "$work/campaign.log"
claim "every rule was broken" test "$("$campaign" --list | wc -l)" = "$(grep -c '^self-test .*: found$' "$work/campaign.out")"
finish
