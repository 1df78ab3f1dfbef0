#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A herd after an outage: many hosts come within seconds to one slow server, and every one of them is
# answered, most of them at once and asked to come again later. Nobody hears 502 while the process
# lives; when it is dead, the web server itself says that the project is down, as clients read it.
#
# Environment: QM_HERD (hosts, 3000), QM_HERD_RATE (per second, 1000), QM_HERD_THREADS (2); for more
# hosts than one address has ports, or one process descriptors: QM_HERD_LOADERS (1; each from an
# address of its own) and QM_HERD_WEB (workers of the web server, 2). QM_HERD_PICTURE: an SVG file in
# which the run is drawn. Printed is a table; no time is asserted.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
hosts=${QM_HERD:-3000}
rate=${QM_HERD_RATE:-1000}
loaders=${QM_HERD_LOADERS:-1}

ulimit -n "$(ulimit -Hn)"
new_project "<max_wus_to_send>1</max_wus_to_send>"
add_jobs 2000
add_host
start_server one --threads "${QM_HERD_THREADS:-2}"
start_nginx --workers="${QM_HERD_WEB:-2}" "$work/one.socket"

loads=()
for ((i = 1; i <= loaders; i++)); do
    "$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts $((hosts / loaders)) --requests 1 \
        --rate "$(awk "BEGIN {print $rate / $loaders}")" --from "127.0.0.$i" --seconds 1 --keep \
        --seed "$i" --log "$work/requests.$i" --json "$url" >"$work/load.$i.json" 2>"$work/load.$i.log" &
    loads+=($!)
done
started+=("${loads[@]}")
wait "${loads[@]}"
cat "$work"/requests.[0-9]* >"$work/requests"
cat "$work"/load.*.log | sort | uniq -c | sort -rn | head -n 5

# of KIND: how many; at KIND COLUMN PART: that column's value which PART of them do not exceed.
of() { awk -v kind="$1" '$3 == kind' "$work/requests" | wc -l; }
at() {
    awk -v kind="$1" -v column="$2" '$3 == kind {print $column}' "$work/requests" | sort -n |
        awk -v part="$3" '{v[NR] = $1} END {i = int(NR * part); print NR == 0 ? "-" : v[i < 1 ? 1 : i]}'
}
printf '%-6s %8s | answered after s: %7s %7s %7s | delay s: %6s %6s %6s\n' reply requests \
    p50 p99 longest p1 p50 p99
for kind in full short down failed; do
    printf '%-6s %8d |                   %7s %7s %7s |          %6s %6s %6s\n' $kind "$(of $kind)" \
        "$(at $kind 2 .5)" "$(at $kind 2 .99)" "$(at $kind 2 1)" \
        "$(at $kind 4 .01)" "$(at $kind 4 .5)" "$(at $kind 4 .99)"
done
say "memory of the server: $(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server_pid/status") kB"
if [ -n "${QM_HERD_PICTURE:-}" ]; then
    need gnuplot
    gnuplot -e "log = '$work/requests'; out = '$QM_HERD_PICTURE'; step = $((hosts / 2000 + 1))" \
        "$QM_SOURCE_DIR/tests/integration/herd.gnuplot"
fi

claim "no request failed" test "$(of failed)" = 0
claim "all were sent" test "$(wc -l <"$work/requests")" -ge $((hosts / loaders * loaders))
turned_away=$(curl -s "$url/metrics" |
    sed -n 's/^quartermaster_requests_turned_away_total //p')
say "turned away with a delay: $turned_away"
claim "every one that was turned away heard so" test "$(of short)" -ge "$turned_away"
claim "and has a delay" test -z "$(awk '$3 == "short" && $4 <= 0' "$work/requests")"
claim "the process lives and answers" reply_has '<userid>'

# The process is killed: the web server's own answer.
kill -KILL "$server_pid"
wait "$server_pid" 2>/dev/null
post "$url" "$request" -o "$work/down" -w '%{http_code}\n' >"$work/code"
claim "the web server answers with success" test "$(cat "$work/code")" = 200
claim "that the project is down" grep -q '^<project_is_down/>' "$work/down"
claim "with a delay" grep -q '^<request_delay>[0-9][0-9]*</request_delay>' "$work/down"
finish
