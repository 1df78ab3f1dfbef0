#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Twelve hosts ask at the same moment, and the queue holds just what they want together. Each request
# reserves jobs while it chooses; that must not leave another with a part of what it is due while
# jobs exist, whether these are all alike or of twenty sizes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
hosts=12
# 4 CPUs, each to be busy for 100,000 s with jobs of 3,600 s, if the host is on for 0.961 to 0.980 of the
# time, as those of qmload say.
most=109
least=107

new_project "<max_wus_to_send>0</max_wus_to_send>"
# Each of its own account: an account's row is locked where a host is made.
keys=()
for ((host = 1; host <= hosts; host++)); do
    keys+=(--authenticator "$(printf '%032x' $host)")
    rows "SET sql_mode = ''; INSERT INTO user (id, create_time, email_addr, name, authenticator)
              VALUES (1000 + $host, 1, 'u$host@example.com', 'u$host', '$(printf '%032x' $host)')"
done

# at_once SIZES LEAST: jobs of so many sizes, which differ by a thousandth each; every host's first
# reply holds LEAST jobs or more.
at_once() {
    rows "DELETE FROM result; DELETE FROM workunit; DELETE FROM host; DELETE FROM qm_host"
    add_jobs $((hosts * most))
    rows "UPDATE workunit SET rsc_fpops_est = 3600e9 * (1 + (id % $1) * 0.001), rsc_fpops_bound = 1e18,
              delay_bound = 3000000"
    start_server "sizes_$1" --threads 24
    start_nginx "$work/sizes_$1.socket"
    within 30 in_pool || claim_failed "the pool holds the jobs"
    # So each request has reserved its jobs before the first of them gets any.
    sql "$schema" -e "BEGIN; SELECT COUNT(*) FROM workunit FOR UPDATE; SELECT SLEEP(2); ROLLBACK" \
        >/dev/null &
    within 10 locked || claim_failed "the workunits are locked"
    "$QM_BINARY_DIR/qmload" "${keys[@]}" --hosts $hosts --requests 1 --seconds 100000 \
        --keep --jobs "$work/load.jobs" "$url" >"$work/load.out" 2>"$work/load.log"
    claim "of jobs of $1 sizes every reply is complete" test $? -eq 0
    cut -d' ' -f2 "$work/load.jobs" | sort | uniq -c | sort -n >"$work/counts"
    claim "every host has jobs" test "$(wc -l <"$work/counts")" = $hosts
    claim "and at least $2 ($(awk '{ printf "%d ", $1 }' "$work/counts"))" \
        test "$(awk 'NR == 1 { print $1 }' "$work/counts")" -ge "$2"
}
# shellcheck disable=SC2317 # within() calls them
locked() {
    [ "$(sql -e "SELECT COUNT(*) FROM information_schema.processlist
                     WHERE db = '$schema' AND info LIKE 'SELECT SLEEP%'")" = 1 ]
}
# shellcheck disable=SC2317
in_pool() {
    curl -s "$url/metrics" | grep -q "^quartermaster_pool_jobs $((hosts * most))\$"
}

at_once 1 $least
at_once 20 $((least - 2)) # they are larger by a hundredth, on average
finish
