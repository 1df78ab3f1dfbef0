#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The primary of two database servers dies, its semi-synchronous replica takes its place, and db_socket
# is changed beside a crowd that asks on: nothing that hosts were told is lost, double or against a
# rule, and afterwards both servers hold the same.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadbd mariadb

"$QM_SOURCE_DIR/tools/lab/campaign/drive" --build "$QM_BINARY_DIR" --replica --once --hosts 16 \
    --faults failover "$work/campaign" >"$work/campaign.out" 2>"$work/campaign.log"
status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$work/campaign.log")"
claim "nothing is lost, double or broken" test $status -eq 0
cat "$work/campaign.out"
grep 'death of a primary' "$work/campaign.log"
claim "a replica became the primary" test "$(cat "$work/campaign/primary")" = 2
claim "it was used" grep -q . "$work/campaign/gaps"
figure() { awk -v name="$1" '$1 == name { print $2 }' "$work/campaign.out"; }
claim "every machine was heard at the end" test "$(figure machines_unsettled)" = 0
finish
