#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short campaign about answers: the upload handler and the program that compares, credits, gives on and
# deletes are killed at random beside a crowd that uploads. Nothing that was acknowledged is lost, no job
# is marked that its command did not get whole, nobody is credited twice; and the audit that says so
# finds every rule that is broken on purpose.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadbd mariadb

"$QM_SOURCE_DIR/tools/lab/campaign/answers" --build "$QM_BINARY_DIR" --kills 24 --round 24 --self-test \
    "$work/campaign" >"$work/campaign.out" 2>"$work/campaign.log"
status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$work/campaign.log")"
claim "nothing is lost, double or wrong, and the audit finds every violation" test $status -eq 0
cat "$work/campaign.out"
claim "every rule was broken" test "$("$QM_SOURCE_DIR/tools/lab/campaign/answers" --list | wc -l)" = \
    "$(grep -c '^self-test .*: found$' "$work/campaign.out")"
finish
