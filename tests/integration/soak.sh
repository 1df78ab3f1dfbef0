#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# soak.sh [SECONDS [RATE]]: a server under a steady load keeps the memory, descriptors and threads that
# it had when it was warm, whatever it has served since: jobs handed out and reported, pages that
# are no requests, connections that break off, reloads. Prints a line for each tenth of the time.
# The suite runs half a minute; "nice -n 10 tests/integration/soak.sh 3600" is an hour.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
seconds=${1:-30} rate=${2:-40}
ticks=10
tick=$((seconds / ticks))
[ "$tick" -ge 1 ] || { say "usage: soak.sh [SECONDS [RATE]], 10 seconds at least" && exit 2; }

new_project "<max_wus_to_send>4</max_wus_to_send>"
next_job=1
# As many jobs as the hosts can have taken since.
supply() {
    add_jobs $(($1 * rate)) $next_job
    next_job=$((next_job + $1 * rate))
}
supply $((2 * tick + 5))
start_server one --threads 4
server=$server_pid
start_nginx "$work/one.socket"

# What a volunteer's network, a search engine or an attacker sends besides.
disturb() {
    local port=${url#http://127.0.0.1:}
    port=${port%%/*}
    curl -s -o "$work/page" --data "no request" "$url"
    curl -s -o "$work/page" "$url"
    head -c 300000 /dev/urandom | curl -s -o "$work/page" --data-binary @- "$url"
    (exec 3<>"/dev/tcp/127.0.0.1/$port" &&
        printf 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n<scheduler' >&3)
    kill -HUP "$server"
}
field() { sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$server/status"; }
descriptors() { find "/proc/$server/fd" -mindepth 1 | wc -l; }
requests() { grep -c event=request "$work/one.log"; }

"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 32 --seconds 1 --rate "$rate" \
    --time "$seconds" --empty 1000000 "$url" >"$work/load.out" 2>"$work/load.log" &
load=$!
started+=("$load")
say "$(printf '%8s %12s %12s %8s %10s' seconds 'resident kB' descriptors threads requests)"
warm_memory=0 warm_descriptors=0 warm_threads=0 memory=0 open=0 threads=0
for ((i = 1; i <= ticks; i++)); do
    supply "$tick"
    disturb
    sleep "$tick"
    memory=$(field VmRSS) open=$(descriptors) threads=$(field Threads)
    say "$(printf '%8d %12d %12d %8d %10d' $((i * tick)) "$memory" "$open" "$threads" "$(requests)")"
    # The second half is held against the end of the first.
    if ((i == ticks / 2)); then
        warm_memory=$memory warm_descriptors=$open warm_threads=$threads
    fi
done
wait $load
claim "the load was served" test $? -eq 0
claim "most of it by jobs" test "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5")" \
    -ge $((seconds * rate / 4))
claim "memory is what it was, within 2 MiB and a twentieth" \
    test "$memory" -le $((warm_memory + 2048 + warm_memory / 20))
claim "as many threads" test "$threads" = "$warm_threads"
# Connections under way come and go; one for each thread and what nginx keeps.
claim "no descriptor is left behind" test "$open" -le $((warm_descriptors + 8))
finish
