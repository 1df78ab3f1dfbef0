#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A herd after an outage: many hosts come within seconds to one slow server, and every one of them is
# answered, most of them at once and asked to come again later. Nobody hears 502 while the process
# lives; when it is dead, the web server itself says that the project is down, as clients read it.
#
# Environment: QM_HERD (hosts, 3000), QM_HERD_RATE (per second, 1000), QM_HERD_THREADS (2).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
hosts=${QM_HERD:-3000}
rate=${QM_HERD_RATE:-1000}

ulimit -n "$(ulimit -Hn)"
new_project "<max_wus_to_send>1</max_wus_to_send>"
add_jobs 2000
add_host
start_server one --threads "${QM_HERD_THREADS:-2}"
start_nginx "$work/one.socket"

"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts "$hosts" --requests 1 --rate "$rate" \
    --seconds 1 --keep --quiet --json "$url" >"$work/load.json" 2>"$work/load.log"
cat "$work/load.json"
number() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$work/load.json" | head -n 1; }
claim "no request failed" test "$(number failed)" = 0
claim "all were sent" test "$(number requests)" -ge "$hosts"
peak=$(sed -n 's/.* delay=\([0-9]*\).*/\1/p' "$work/one.log" | sort -n | tail -n 1)
turned_away=$(curl -s "$url/metrics" |
    sed -n 's/^quartermaster_requests_turned_away_total //p')
say "longest delay of those served: $peak s; turned away with a delay: $turned_away"
claim "every one that was turned away heard so" test "$(number later)" -ge "$turned_away"
claim "the process lives and answers" reply_has '<userid>'

# The process is killed: the web server's own answer.
kill -KILL "$server_pid"
wait "$server_pid" 2>/dev/null
post "$url" "$request" -o "$work/down" -w '%{http_code}\n' >"$work/code"
claim "the web server answers with success" test "$(cat "$work/code")" = 200
claim "that the project is down" grep -q '^<project_is_down/>' "$work/down"
claim "with a delay" grep -q '^<request_delay>[0-9][0-9]*</request_delay>' "$work/down"
finish
