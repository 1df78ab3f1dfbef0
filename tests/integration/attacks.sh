#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# attacks.sh [SECONDS CONNECTIONS [NAME...]]: one account sends the costliest requests that are known
# (tests/support/worst_bodies.def), each kind by itself over several connections, one after the other
# without a pause, while hosts of another account ask for work at a modest rate. Printed is what the
# others wait, without an attack and beside each; no time is asserted, but that every request of the
# others is answered. The suite tries some attacks for a moment; with arguments it is all of them, or
# those that are named. "fresh wrong keys" is the one attack without an account: half a MB with
# another key in each request. For figures set QM_BINARY_DIR to a release build, and QM_ATTACK_MBIT to what
# the line carries by which the attacks come, all together, in Mbit/s: without it they come as fast as
# the machine moves memory, and what is measured is how it shares its cores.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

seconds=${1:-3} connections=${2:-2}
shift $(($# < 2 ? $# : 2))
bodies=$QM_BINARY_DIR/tests/worst_bodies
if [ $# -gt 0 ]; then
    names=("$@")
elif [ "$connections" -gt 2 ]; then
    mapfile -t names < <("$bodies" --names)
    names+=("fresh wrong keys")
else
    names=("a queue of falling ends" "unknown reports" "files" "fresh wrong keys")
fi
others=fedcba0987654321fedcba0987654321
rate=10 # requests of the others per second

new_project "<send_result_abort>1</send_result_abort><keyword_sched>1</keyword_sched>" \
    "<max_ncpus>256</max_ncpus>" "<min_sendwork_interval>0</min_sendwork_interval>" \
    "<max_jobs_in_progress><app><app_name>work</app_name><total_limit><jobs>1000000</jobs>
     </total_limit></app></max_jobs_in_progress>"
add_host
add_jobs 20000
rows "SET sql_mode = ''; INSERT INTO user SET id = 2, create_time = 1700000000,
    email_addr = 'b@example.org', name = 'Bob', authenticator = '$others';
    INSERT INTO platform SET create_time = 1700000000, name = 'anonymous', user_friendly_name = 'own'
    ON DUPLICATE KEY UPDATE name = name"
start_server one --threads 4
start_nginx "$work/one.socket"
memory() { echo $(($(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$server_pid/status") / 1024)); }

# Half a MB each, with other keys: as many as it has connections, twice, and each connection begins with another one.
write_strangers() {
    local i n
    "$bodies" "unknown reports" "$account" 4242 | sed '1,/<\/authenticator>/d' | head -c 500000 >"$work/rest"
    for ((i = 0; i < 2 * connections; i++)); do
        {
            printf '<scheduler_request>\n<authenticator>%032x</authenticator>\n' "$i"
            cat "$work/rest"
            printf '\n</scheduler_request>\n'
        } >"$work/stranger.$i"
    done
    for ((i = 0; i < connections; i++)); do
        for ((n = 0; n < 1000; n++)); do
            printf 'next\nurl = "%s"\nrequest = "POST"\nupload-file = "%s"\n' "$url" "$work/stranger.$(((i + n) % (2 * connections)))"
            printf 'header = "Expect:"\nheader = "Content-Type: text/xml"\noutput = "/dev/null"\nwrite-out = "%%{http_code}\\n"\nsilent\n'
        done | tail -n +2 >"$work/strangers.$i"
    done
}
write_strangers

attackers=()
limit=()
[ -z "${QM_ATTACK_MBIT:-}" ] || limit=(--limit-rate $((QM_ATTACK_MBIT * 1000000 / 8 / connections)))
attack() { # NAME: by all connections at once
    local i
    if [ "$1" = "fresh wrong keys" ]; then
        for ((i = 0; i < connections; i++)); do
            stdbuf -oL curl "${limit[@]}" --max-time 600 -K "$work/strangers.$i" >"$work/codes.$i" 2>"$work/curl.log" &
            attackers+=($!)
        done
        started+=("${attackers[@]}")
        return
    fi
    "$bodies" "$1" "$account" 4242 >"$work/body" || exit 1
    for ((i = 0; i < connections; i++)); do
        stdbuf -oL curl -s "${limit[@]}" --max-time 600 -H 'Expect:' -H 'Content-Type: text/xml' --data-binary "@$work/body" \
            -o /dev/null -w '%{http_code}\n' "$url?[1-1000000]" >"$work/codes.$i" 2>"$work/curl.log" &
        attackers+=($!)
    done
    started+=("${attackers[@]}")
}
end_attack() {
    local attacker
    for attacker in "${attackers[@]}"; do end_process "$attacker"; done
    attackers=()
    # What they had sent is still served, and shall not count for the next.
    within 60 no_request_waits || claim_failed "requests of an attack that is over still wait"
}
# shellcheck disable=SC2317 # within() calls it
no_request_waits() { curl -s "$url/metrics" | grep -q '^quartermaster_requests_waiting 0$'; }

# beside NAME: a line of the table. Requests of the attack are counted that were answered; those that
# are under way at the end are not.
quiet=
beside() {
    local name=$1 p50 p99 longest requests failed down later answered other
    "$QM_BINARY_DIR/qmload" --authenticator "$others" --rate "$rate" --hosts 40 --time "$seconds" \
        --seconds 1 --empty 1000000 --seed 7 --json "$url" >"$work/honest" 2>"$work/honest.log"
    figure() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$work/honest"; }
    requests=$(figure requests) p50=$(figure p50) p99=$(figure p99) longest=$(figure longest)
    failed=$(figure failed) down=$(figure down) later=$(figure later)
    answered=$(cat "$work"/codes.* 2>"$work/no-codes" | grep -c '^200$')
    other=$(cat "$work"/codes.* 2>"$work/no-codes" | grep -vc '^200$')
    quiet=${quiet:-$p99}
    printf '%-36s %8.1f %8.1f %8.1f %7.1f %8s %6s %8s %6s %8s\n' "$name" "$p50" "$p99" "$longest" \
        "$(awk "BEGIN {print $p99 / $quiet}")" "$requests" "$later" "$answered" "$other" "$(memory)"
    if [ "${failed:-1}" != 0 ] || [ "${down:-1}" != 0 ] || [ "${requests:-0}" = 0 ]; then
        claim_failed "$name: of $requests requests of others $failed failed, $down heard \"down\""
    fi
}

printf '%-36s %8s %8s %8s %7s %8s %6s %8s %6s %8s\n' "attack" "p50 ms" "p99 ms" "max ms" "p99 x" \
    others later answered other "peak MB"
beside "none"
for name in "${names[@]}"; do
    attack "$name"
    sleep 1 # until it is under way
    beside "$name"
    end_attack
    rm -f "$work"/codes.*
done
# What strangers sent cost a look at the key, however long it is.
awk '/reason=account_key/ { for (i = 1; i <= NF; i++) { split($i, pair, "="); of[pair[1]] = pair[2] }
    if (of["in"] > 65536) { long++; parsed += of["parse_us"] > 0 } }
    END { print long + 0, parsed + 0 }' "$work/one.log" >"$work/strangers"
read -r long parsed <"$work/strangers"
say "requests of strangers above 64 KiB: $long, parsed: $parsed"
claim "none of a stranger is parsed" test "$parsed" = 0
[[ " ${names[*]} " != *" fresh wrong keys "* ]] || claim "strangers came" test "$long" -gt 0
claim "every request of the others was answered" test "$failures" = 0
claim "the server lives" runs "$server_pid"
claim "nothing critical happened" not log_has one 'level=critical'
finish
