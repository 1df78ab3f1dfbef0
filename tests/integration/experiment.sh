#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An experiment of two cells: every cell of its grid is in the table, with its own configuration, and
# a second run is the same; mistakes in an experiment's file are told. Pictures of a run and of the
# comparison are drawn where gnuplot is there.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
experiment=$QM_SOURCE_DIR/tools/lab/volunteers/experiment
export QM_BINARY_DIR

cat >"$work/tiny.experiment" <<'EXPERIMENT'
about    a test
hosts    8
days     3
seeds    1
app      work
version  work
jobs     work 400 {1e9*28800} {28800*$slack}
scenario flops_mean 1e9
scenario cpus_max 2
axis     slack 1.5
axis     check none edf odd
when     slack=1.5 when check=odd leave_out yes
when     check=none config <ignore_delay_bound>1</ignore_delay_bound>
label    check=none=no check
transition 24 --trust
option   --csv $folder/over_time.csv
table    --y jobs,late
EXPERIMENT
if command -v gnuplot >/dev/null; then
    cat >>"$work/tiny.experiment" <<'EXPERIMENT'
option   --plot $folder --trace 0
plot     waste --x check --y wasted_fraction --bars
EXPERIMENT
fi

claim "the cells are listed" test "$("$experiment" --list "$work/tiny.experiment" | wc -l)" = 2
for run in one two; do
    "$experiment" --socket "$QM_TEST_SOCKET" --out "$work/$run" "$work/tiny.experiment" 2>&1
    claim "run $run ends well" test $? -eq 0
done
cat "$work/one/cells.csv"
claim "a line for each cell" test \
    "$(tail -n +2 "$work/one/cells.csv" | cut -d, -f1-3 | tr '\n' ' ')" = "1.5,none,1 1.5,edf,1 "
claim "the second run is the same" cmp "$work/one/cells.csv" "$work/two/cells.csv"
column_of() { head -n 1 "$work/one/cells.csv" | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
figure() { grep "^1.5,$1," "$work/one/cells.csv" | cut -d, -f"$(column_of "$2")"; }
claim "jobs are done" test "$(figure none jobs)" -gt 10
claim "without a check more are late" test "$(figure none late)" -gt "$(figure edf late)"
claim "only a check gives deadlines as a reason" \
    test "$(figure none reason_deadline)" -eq 0 -a "$(figure edf reason_deadline)" -gt 0
over_time=$work/one/cells/slack=1.5_check=none_seed=1/over_time.csv
claim "a row for each day" test "$(wc -l <"$over_time")" = 4
claim "whose jobs are all" test "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "jobs") at = i; next }
    { jobs += $at } END { print jobs }' "$over_time")" = "$(figure none jobs)"
claim "the table calls things by their labels" grep -q '| no check |' "$work/one/tables.md"
if command -v gnuplot >/dev/null; then
    claim "the comparison is drawn" grep -q '</svg>' "$work/one/waste.svg"
    for name in figures arrivals trace; do
        claim "$name of a run are drawn" \
            grep -q '</svg>' "$work/one/cells/slack=1.5_check=edf_seed=1/$name.svg"
    done
fi

"$experiment" --socket "$QM_TEST_SOCKET" --out "$work/one" "$work/tiny.experiment" 2>"$work/again"
claim "cells that are there are not run again" not grep -q "seed 1: " "$work/again"
echo "colour red" >"$work/bad.experiment"
"$experiment" "$work/bad.experiment" 2>"$work/complaint"
claim "a mistake is told with its line" \
    test "$?,$(grep -c 'bad.experiment:1: there is no row "colour"' "$work/complaint")" = 2,1
mistake() { # WORDS ROW...
    local words=$1
    shift
    { cat "$work/tiny.experiment"; printf '%s\n' "$@"; } >"$work/bad.experiment"
    "$experiment" "$work/bad.experiment" 2>"$work/complaint"
    claim "before anything is begun: $words" \
        test "$?,$(grep -c "bad.experiment:[0-9]*: $words" "$work/complaint")" = 2,1
}
mistake 'there is no axis "colour"' "when colour=red config <ended>1</ended>"
# shellcheck disable=SC2016 # $ is the experiment's
mistake 'there is no axis "slakc"' 'scenario error_rate $slakc'
mistake 'there is no row "cnofig"' "when check=edf cnofig <ended>1</ended>"
"$QM_SOURCE_DIR/tools/lab/volunteers/compare" --table --y nothing "$work/one/cells.csv" 2>/dev/null
claim "a figure that is not there cannot be compared" test $? -eq 2

# Two seeds, of which one has far more jobs in both cells.
cat >"$work/pairs.csv" <<'CELLS'
check,seed,jobs
none,1,10
none,2,110
edf,1,12
edf,2,116
CELLS
"$QM_SOURCE_DIR/tools/lab/volunteers/compare" --table --y jobs "$work/pairs.csv" >"$work/plain.md"
claim "a mean has its standard error" grep -q '^| edf | 64 ± 52 |' "$work/plain.md"
"$QM_SOURCE_DIR/tools/lab/volunteers/compare" --table --against check=none --y jobs \
    "$work/pairs.csv" >"$work/against.md"
cat "$work/against.md"
claim "a difference is taken seed by seed" grep -q '^| edf | 64 (+4 ± 2) |' "$work/against.md"
claim "what others are set against has its own" grep -q '^| none | 60 ± 50 |' "$work/against.md"
"$QM_SOURCE_DIR/tools/lab/volunteers/compare" --table --against cheek=none --y jobs \
    "$work/pairs.csv" 2>/dev/null
claim "against an axis that is not there nothing is set" test $? -eq 2
finish
