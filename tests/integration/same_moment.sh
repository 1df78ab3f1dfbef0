#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A client's HTTP library sends a request again by itself when a connection breaks, so the same bytes
# may come twice at the same moment, to two processes. Both replies must be usable, and nothing may
# be there twice: no host, no job (number 21 of tests/README.md). And the same for two clients that both ask
# for the only job.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

# Without a pool: each request then sees all jobs, whatever the other server has seen.
new_project "<pool_jobs_max>0</pool_jobs_max>"
start_server one --threads 4
start_server two --threads 4
start_nginx "$work/one.socket"
first_url=$url
start_nginx "$work/two.socket"
second_url=$url

# both FILE [FILE2]: at once, to one process each; replies in $work/first and $work/second.
both() {
    local first second
    post "$first_url" "$1" >"$work/first" &
    first=$!
    post "$second_url" "${2:-$1}" >"$work/second" &
    second=$!
    wait "$first" "$second"
    is_reply "$work/first" && is_reply "$work/second"
}
hostid() { sed -n 's|^<hostid>\(.*\)</hostid>|\1|p' "$1"; }
jobs_in() { sed -n '/^<result>/,/^<\/result>/s|.*<name>\(.*\)</name>|\1|p' "$1" | sort -u; }

# --- a first contact, again and again with other machines
sent=$work/sent.xml
wrong=0 met=0
for round in $(seq 12); do
    add_jobs 6 $((round * 100))
    cpid=$(printf '%032x' "$round")
    sed "s|<host_cpid>.*</host_cpid>|<host_cpid>$cpid</host_cpid>|
         s|<domain_name>.*</domain_name>|<domain_name>machine$round</domain_name>|
         s|<allow_multiple_clients>.*<|<allow_multiple_clients>0<|
         s|<cpu_req_secs>.*<|<cpu_req_secs>3000<|; s|<work_req_seconds>.*<|<work_req_seconds>3000<|" \
        "$QM_SOURCE_DIR/tests/captures/001-first-rpc.xml" >"$sent"
    both "$sent" || claim_failed "round $round: two replies"
    id=$(hostid "$work/first")
    if [ -z "$id" ] || [ "$id" != "$(hostid "$work/second")" ]; then
        claim_failed "round $round: hosts '$id' and '$(hostid "$work/second")'"
    fi
    # The client sees one of the replies only, either; a first contact tells of no jobs, so each
    # reply must have all that the host has.
    rows "SELECT name FROM result WHERE hostid = ${id:-0}" | sort >"$work/held"
    for reply in first second; do
        jobs_in "$work/$reply" | cmp -s - "$work/held" || wrong=$((wrong + 1))
    done
    met=$((met + $(wc -l <"$work/held")))
    rows "UPDATE result SET server_state = 5, outcome = 1 WHERE hostid > 0"
    rows "DELETE FROM result WHERE server_state = 2"
done
claim "12 machines made 12 hosts" test "$(rows "SELECT COUNT(*) FROM host")" = 12
claim "jobs were sent ($met)" test "$met" -ge 12
claim "each reply has all jobs of the host ($wrong have not)" test "$wrong" = 0

# --- two hosts and the only job
duplicates=0
for round in $(seq 12); do
    add_jobs 1 $((5000 + round))
    for machine in 1 2; do
        sed "s|<host_cpid>.*</host_cpid>|<host_cpid>$(printf '%032x' $((900 + machine)))</host_cpid>|
             s|<domain_name>.*</domain_name>|<domain_name>rival$machine</domain_name>|
             s|<allow_multiple_clients>.*<|<allow_multiple_clients>0<|
             /<other_results>/,/<\/other_results>/d" \
            "$QM_SOURCE_DIR/tests/captures/001-first-rpc.xml" >"$work/rival$machine.xml"
    done
    both "$work/rival1.xml" "$work/rival2.xml" || claim_failed "round $round: two replies"
    [ "$(grep -l "<name>job_$((5000 + round))_0</name>" "$work/first" "$work/second" | wc -l)" = 1 ] ||
        duplicates=$((duplicates + 1))
done
claim "the only job goes to one of two ($duplicates times it did not)" test "$duplicates" = 0
claim "nothing failed in the servers" not grep -q 'level=critical\|reason=later' "$work"/*.log
finish
