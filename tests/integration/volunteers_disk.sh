#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A project comes to hosts whose disks another one has filled. In one pass it gets nothing; the second
# gives it room of the other's, also while the first makes no more. Clients of today are told to delete
# by the third.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
export QM_BINARY_DIR

sed '/^plot/d; s/^scenario arrival_days.*/scenario always_on 1/' \
    "$QM_SOURCE_DIR/tools/lab/volunteers/scenarios/disk_second.experiment" >"$work/disk.experiment"
"$QM_SOURCE_DIR/tools/lab/volunteers/experiment" --socket "$QM_TEST_SOCKET" --hosts 3 --days 7 --seeds 1 \
    --only what=exact --out "$work/disk" "$work/disk.experiment" 2>&1
claim "the experiment ends well" test $? -eq 0
cat "$work/disk/cells.csv"
column_of() { head -n 1 "$work/disk/cells.csv" | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
figure() { grep "^exact,$1," "$work/disk/cells.csv" | cut -d, -f"$(column_of "$2")"; }
# shellcheck disable=SC2317 # claim calls it
holds() { awk "BEGIN { exit !($1) }"; }
claim "one pass has nothing for who comes late" holds "$(figure one p2_flops_fraction) == 0"
claim "the second has" holds "$(figure two p2_flops_fraction) > 0.1"
claim "and half as many jobs more are done" holds "$(figure two jobs) > 1.5 * $(figure one jobs)"
claim "by deleting files of the first" holds "$(figure two disk_deletions) > 0"
claim "with the third nothing is idle" holds "$(figure three idle_fraction) < 0.05"
claim "and the late one has its share" holds "$(figure three p2_flops_fraction) > 0.1"
claim "clients of today delete by order" holds "$(figure today disk_deletions) > 0"
claim "but have nothing for who comes late" holds "$(figure today p2_flops_fraction) < 0.05"
claim "and go on" holds "$(figure today idle_fraction) < 0.05"
finish
