#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two projects of equal shares on one host whose GPU is twice as fast as its CPU. The first has GPU
# jobs only, the second has both: with two real servers the CPU becomes all the second's, the GPU
# three quarters the first's.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
export QM_BINARY_DIR

# After 70 days the turns that the host gives to each matter little any more.
sed '/^option\|^time/d' "$QM_SOURCE_DIR/tools/lab/volunteers/scenarios/gpu.experiment" >"$work/gpu.experiment"
"$QM_SOURCE_DIR/tools/lab/volunteers/experiment" --socket "$QM_TEST_SOCKET" --days 70 --out "$work/gpu" \
    "$work/gpu.experiment" 2>&1
claim "the experiment ends well" test $? -eq 0
cat "$work/gpu/cells.csv"
column_of() { head -n 1 "$work/gpu/cells.csv" | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
figure() { tail -n 1 "$work/gpu/cells.csv" | cut -d, -f"$(column_of "$1")"; }
# shellcheck disable=SC2317 # claim calls it
within_two_percent() { awk -v got="$1" -v wanted="$2" \
    'BEGIN { off = got - wanted; exit !(got != "" && off < 0.02 && off > -0.02) }'; }
claim "the CPU is the second's" within_two_percent "$(figure p2_cpu_fraction)" 1
claim "three quarters of the GPU are the first's" within_two_percent "$(figure p1_gpu_fraction)" 0.75
claim "a quarter is the second's" within_two_percent "$(figure p2_gpu_fraction)" 0.25
claim "both compute the same" within_two_percent "$(figure p1_flops_fraction)" 0.5
claim "and nothing idles" within_two_percent "$(figure idle_fraction)" 0
finish
