#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Three submitters with quotas 1, 2 and 4 share the hosts, whatever one of them submits and calls
# urgent; on two servers, and through a restart.
#
#   fair_share.sh [FLOOD [HAND-OUTS]]
#
# FLOOD (20000): jobs of the first, of priority 10^6. HAND-OUTS (700) before the restart.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
flood=${1:-20000}
share=${2:-700}
hosts=35

# Hosts come again, and list no jobs: they would have the old ones again.
new_project "<submitter_streams>1</submitter_streams><min_sendwork_interval>0</min_sendwork_interval>" \
    "<resend_lost_results>0</resend_lost_results>"
# submit USER QUOTA JOBS PRIORITY: in a batch of its own, behind all jobs that there are.
submit() {
    local first
    first=$(rows "SELECT COALESCE(MAX(id), 0) + 1 FROM workunit")
    add_jobs "$3" "$first"
    rows "SET sql_mode = ''; INSERT INTO user_submit SET user_id = $1, quota = $2;
        INSERT INTO batch SET id = $1, user_id = $1, name = 'of $1';
        UPDATE workunit SET batch = $1, priority = $4 WHERE id >= $first;
        UPDATE result SET batch = $1, priority = $4 WHERE id >= $first"
}
submit 11 1 "$flood" 1000000
submit 12 2 $((2 * share)) 0
submit 13 4 $((2 * share)) -3
given() { rows "SELECT COUNT(*) FROM result WHERE batch = $1 AND server_state <> 2"; }
# shellcheck disable=SC2317 # within() calls it
knows_all() { grep -q "event=pool_swept .*complete=1" "$work/$1.log"; }
begin() {
    start_server "$1" --threads 4
    claim "$1 knows all jobs" within 120 knows_all "$1"
}
# hand_out REQUESTS: of each host, one job at a time.
hand_out() {
    "$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts "$hosts" --ncpus 1 --requests "$1" --seconds 1 \
        --keep --seed 7 "$url" >>"$work/load.out" 2>&1 || claim_failed "qmload: $(tail -n 3 "$work/load.out")"
}
# near USER QUOTA: has its part of all that these three were given, within a twentieth of it.
# shellcheck disable=SC2317 # near_all calls it
near() {
    local all had
    all=$(($(given 11) + $(given 12) + $(given 13)))
    had=$(given "$1")
    echo "user $1: $had of $all"
    [ "$all" -ge "$share" ] && [ $((had * 7 * 20)) -ge $((all * $2 * 19)) ] && [ $((had * 7 * 20)) -le $((all * $2 * 21)) ]
}
# shellcheck disable=SC2317 # claim calls it
near_all() {
    near 11 1 && near 12 2 && near 13 4
}

begin one
begin two
start_nginx "$work/one.socket" "$work/two.socket"
hand_out $((share / hosts))
claim "submitters get their parts" near_all
# shellcheck disable=SC2317 # within() calls it
is_kept() { [ "$(rows "SELECT COUNT(*) FROM qm_stream WHERE kind = 2")" = 3 ]; }
claim "what they had is kept" within 30 is_kept
# shellcheck disable=SC2317 # within() calls it
is_shown() { curl -s "$url/project" | grep -q 'user 13.*57'; }
claim "the page shows shares" within 30 is_shown

# A newcomer with the smallest share, and a server that has just begun.
for pid in "${started[@]:0:2}"; do end_process "$pid"; done
submit 14 0.5 1 0
rm -f "$work/one.socket" "$work/one.log"
begin one
start_nginx "$work/one.socket"
hosts=1 hand_out 1
claim "the first request that suits gets the newcomer's job" [ "$(given 14)" = 1 ]
hand_out $((share / hosts))
claim "the others have their parts after the restart, too" near_all
finish
