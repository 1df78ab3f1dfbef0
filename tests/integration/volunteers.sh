#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An emulated crowd of two dozen hosts works on a project for a virtual month: the server believes
# the time that it is told, nothing is lost between the two, and the days of a second run are those of
# the first.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
jobs=10000

cat >"$work/month" <<'CROWD'
hosts 24
days 30
arrival_days 1
seed 5
CROWD

# run NAME SCENARIO: a fresh project, the days, and what was seen of them in $work/NAME.json and .csv.
run() {
    schema=qm_integration_$$_$1
    project=$work/$1
    program=$work/bin/quartermaster-$1
    new_project "<max_wus_to_send>0</max_wus_to_send>"
    add_jobs $jobs
    rows "UPDATE workunit SET rsc_fpops_est = 1e14, rsc_fpops_bound = 1e16"
    start_server "$1" --clock=request
    start_nginx "$work/$1.socket"
    "$QM_BINARY_DIR/qmvolunteers" --quiet --csv "$work/$1.csv" --authenticator "$account" \
        "$work/$2" "$url" >"$work/$1.json" 2>"$work/$1.err"
    claim "the crowd lives to the end" test $? -eq 0
}

run one month
cat "$work/one.json"
figure() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/one.json"; }
claim "nothing fails on the way" test "$(figure failed_rpcs),$(figure lost_acks)" = 0,0
claim "24 machines made 24 hosts" test "$(rows "SELECT COUNT(*) FROM host")" = 24
claim "much is computed" test "$(figure jobs)" -gt 5000
# Idle are those whose queue leaves no room before the deadline, until they ask again: with this
# seed 37 replies say so.
claim "few CPUs are idle" test "$(awk -v idle="$(figure idle_fraction)" \
    'BEGIN { print idle != "" && idle < 0.03 }')" = 1
# Jobs that are done and not reported when the month ends are few.
reported=$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome IN (1, 3)")
say "reported: $reported"
claim "and booked" test "$reported" -gt $(($(figure jobs) * 95 / 100)) \
    -a "$reported" -le "$(figure jobs)"
claim "in the time of the scenario" test "$(rows "SELECT COUNT(*) FROM result
    WHERE sent_time > 0 AND (sent_time < 1767225600 OR sent_time > 1767225600 + 30 * 86400)")" = 0

sed 's/^days .*/days 8/' "$work/month" >"$work/week"
run two week
# A line of names, then one for each day.
claim "the same seed gives the same days" cmp <(head -n 9 "$work/one.csv") "$work/two.csv"
claim "eight of them" test "$(wc -l <"$work/two.csv")" = 9
finish
