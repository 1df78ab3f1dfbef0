#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Requests that wait share transactions (server/request/request_group.h): two server processes with two
# threads each behind nginx, 48 hosts of 16 accounts at once. Each job goes out once, and what is acknowledged
# is in the database. With requests_per_commit 1 nothing is shared.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
jobs=2500

new_project "<max_wus_to_send>0</max_wus_to_send>"
add_jobs $jobs
keys=()
for i in $(seq 2 17); do
    key=$(printf '%032d' "$i")
    keys+=(--authenticator "$key")
    rows "SET sql_mode = ''; INSERT INTO user SET id = $i, create_time = 1, name = 'u$i',
        email_addr = 'u$i@example.org', authenticator = '$key'"
done

# load NAME OPTION...: hosts of all accounts.
load() {
    # shellcheck disable=SC2317 # claim calls it
    local name=$1
    # shellcheck disable=SC2317
    shift
    # shellcheck disable=SC2317
    "$QM_BINARY_DIR/qmload" "${keys[@]}" --hosts 48 --seconds 2500 --jobs "$work/$name.jobs" "$@" \
        "$url" >"$work/$name.out" 2>"$work/$name.log"
}
shared() { cat "$work"/{one,two}.log | grep -c 'together=[2-8]'; }

start_server one --threads 2
pids=("$server_pid")
start_server two --threads 2
pids+=("$server_pid")
start_nginx "$work/one.socket" "$work/two.socket"
claim "no duplicate, no failure, no 'later'" load all
cat "$work/all.out"
say "requests that shared a transaction: $(shared) of $(cat "$work"/{one,two}.log | grep -c event=request)"
# With a sanitizer a request takes 10 ms of CPU and more, and whose requests are so dear joins nobody.
# shellcheck disable=SC2317 # claim calls it
read_for() { curl -s "$url/metrics" | grep '^quartermaster_requests_read_for_total [1-9]'; }
if [ -z "${QM_SANITIZED:-}" ]; then
    claim "transactions were shared" test "$(shared)" -gt 20
    claim "and what their requests ask first was read for several (either server says so)" read_for
fi
claim "every job was received" test "$(wc -l <"$work/all.jobs")" = $jobs
rows "SELECT name, hostid FROM result WHERE hostid > 0 ORDER BY name" | tr '\t' ' ' >"$work/in.database"
LC_ALL=C sort -o "$work/in.database" "$work/in.database"
LC_ALL=C sort -o "$work/all.jobs" "$work/all.jobs"
# The load numbers its hosts itself: each of its numbers is to be one host, and each host one of them.
LC_ALL=C join "$work/all.jobs" "$work/in.database" | cut -d' ' -f2,3 | sort -u >"$work/pairs"
machines=$(cut -d' ' -f1 "$work/pairs" | sort -u | wc -l)
hosts=$(cut -d' ' -f2 "$work/pairs" | sort -u | wc -l)
say "machines that got jobs: $machines, hosts in the database: $hosts, pairs: $(wc -l <"$work/pairs")"
claim "each is with the host that was given it" \
    test "$machines $machines" = "$hosts $(wc -l <"$work/pairs")"
claim "every report was booked" \
    test "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1")" = $jobs
claim "each request changed its host's guard row" \
    test "$(rows "SELECT SUM(rpcs) FROM qm_host WHERE hostid > 0")" = \
    "$(cat "$work"/{one,two}.log | grep -c 'reply=full')"
claim "nothing failed in the servers" not grep -q 'level=critical\|reason=later' "$work"/{one,two}.log

before=$(shared)
write_config "<max_wus_to_send>0</max_wus_to_send>" "<requests_per_commit>1</requests_per_commit>"
kill -HUP "${pids[@]}"
within 10 log_has one 'event=config_loaded changes=1'
within 10 log_has two 'event=config_loaded changes=1'
claim "where each has its own COMMIT, all are served too" load apart --requests 10
claim "and none is shared" test "$(shared)" = "$before"
finish
