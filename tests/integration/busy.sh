#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a busy machine no more threads work at a time than it has processors, and of two servers on one
# database each takes its part of that.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

new_project "<min_sendwork_interval>1</min_sendwork_interval>"
start_server one --threads 8
start_nginx "$work/one.socket"
# Each look is a request, too: where none comes nobody asks how busy the machine is.
# shellcheck disable=SC2317 # within() calls it
limit_is() { curl -s "$url/metrics" | grep -qx "quartermaster_workers_limit $1"; }
# part_of SERVERS: what each of so many servers may do.
part_of() {
    local part=$(($(getconf _NPROCESSORS_ONLN) / $1))
    echo $((part < 1 ? 1 : part < 8 ? part : 8))
}

for ((i = 0; i < 2 * $(getconf _NPROCESSORS_ONLN); i++)); do
    while :; do :; done &
    started+=($!)
done
claim "the limit of one server falls to $(part_of 1)" within 60 limit_is "$(part_of 1)"
start_server two --threads 8
claim "and to $(part_of 2), where there is another one" within 60 limit_is "$(part_of 2)"
claim "it serves" reply_has '<userid>1</userid>'

# Who waits for a thread is told to the programs that can wait.
rows "UPDATE qm_server SET hosts_waited = 0"
sql "$schema" -e "BEGIN; SELECT id FROM user FOR UPDATE; SELECT SLEEP(60); ROLLBACK" >/dev/null 2>&1 &
holder=$!
started+=("$holder")
"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 200 --connections 200 --requests 1 --seconds 0 "$url" >"$work/load.out" 2>&1 &
started+=($!)
# shellcheck disable=SC2317 # claim calls it
say_it() { [ "$(rows "SELECT COUNT(*) FROM qm_server WHERE hosts_waited > 0")" -ge 1 ]; }
claim "a server says that hosts wait" within 30 say_it
end_process "$holder"
finish
