#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An emulated crowd on two projects, with four requests under way at once, through an outage, and with
# jobs that time out: nothing is lost or doubled, and the transitions come in virtual time. Then what
# ends a run early, and the load of virtual time.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
begin=1767225600
day=86400

cat >"$work/crowd" <<'CROWD'
hosts 10
days 3
arrival_days 0.5
always_on 1
abandon_rate 0.1
transition_hours 3
outage_begin_days 1.5
outage_hours 12
CROWD

# project NAME ELEMENT [SERVER-OPTION...]: in virtual time, with jobs whose deadline is a day.
project() {
    local name=$1 element=$2
    shift 2
    schema=qm_integration_$$_$name
    project=$work/$name
    program=$work/bin/quartermaster-$name
    new_project "<max_wus_to_send>0</max_wus_to_send>" "$element"
    cat >"$work/in.xml" <<'TEMPLATE'
<input_template>
    <workunit>
        <target_nresults>1</target_nresults>
        <min_quorum>1</min_quorum>
        <max_error_results>9</max_error_results>
        <max_total_results>9</max_total_results>
        <max_success_results>1</max_success_results>
        <delay_bound>86400</delay_bound>
        <rsc_fpops_est>1e14</rsc_fpops_est>
        <rsc_fpops_bound>1e16</rsc_fpops_bound>
        <rsc_disk_bound>1e6</rsc_disk_bound>
        <rsc_memory_bound>1e6</rsc_memory_bound>
    </workunit>
</input_template>
TEMPLATE
    printf '<output_template>\n<result>\n</result>\n</output_template>\n' >"$work/out.xml"
    seq 300 | sed 's/.*/--command_line x/' | "$QM_BINARY_DIR/qmctl" --project "$project" jobs create \
        --app work --in "$work/in.xml" --out "$work/out.xml" --name "$name" --stdin --quiet \
        >"$work/create.log" || claim_failed "jobs are made"
    start_server "$name" --clock=request "$@"
    start_nginx "$work/$name.socket"
}
# of NAME QUERY
of() { sql "qm_integration_$$_$1" -e "$2"; }
volunteers() { "$QM_BINARY_DIR/qmvolunteers" --authenticator "$account" "$@"; }
transition() { echo "$QM_BINARY_DIR/qmctl --project $work/$1 transition --trust --now {now}"; }

project one "<resend_lost_results>0</resend_lost_results>"
first=$url
project two "<resend_lost_results>1</resend_lost_results>" --service-time 30
second=$url

volunteers --parallel 4 --transition "$(transition one)" --transition "$(transition two)" \
    --metrics "$first/metrics" --metrics "$second/metrics" "$work/crowd" "$first" "$second" \
    >"$work/together.json" 2>"$work/together.err"
claim "a crowd lives to the end" test $? -eq 0
cat "$work/together.json"
tail -n 1 "$work/together.err"
figure() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/together.json"; }

# summed NAME FIELD: the sum over the requests that the server's log tells of.
summed() { sed -n "s/.* $2=\([0-9]*\) .*/\1/p" "$work/$1.log" | awk '{ sum += $1 } END { print sum + 0 }'; }

answered=0
for name in one two; do
    hosts=$(of $name "SELECT COUNT(*) FROM host")
    sent=$(of $name "SELECT COUNT(*) FROM result WHERE hostid > 0")
    again=$(summed $name resent)
    say "$name: $hosts hosts, $sent results, $again of them sent again"
    answered=$((answered + sent + again))
    claim "$name: each machine is one host" test "$hosts" = "$(of $name \
        "SELECT COUNT(DISTINCT host_cpid) FROM host")"
    claim "$name: most of the crowd are" test "$hosts" -gt 4 -a "$hosts" -le 10
    claim "$name: each result is sent to one host" test "$(summed $name sent)" = "$sent"
    claim "$name: nothing is sent in the outage" test "$(of $name "SELECT COUNT(*) FROM result
        WHERE sent_time >= $begin + 1.5 * $day AND sent_time < $begin + 2 * $day")" = 0
    claim "$name: no two results of a job are under way" test "$(of $name "SELECT COUNT(*) FROM
        (SELECT 1 FROM result WHERE server_state = 4 GROUP BY workunitid HAVING COUNT(*) > 1) t")" = 0
done
claim "what was sent is what came" test "$answered" = \
    "$(sed -n 's/.* RPCs, \([0-9]*\) jobs in .*/\1/p' "$work/together.err")"
claim "jobs that were abandoned time out" test \
    "$(of one "SELECT COUNT(*) FROM result WHERE outcome = 4")" -gt 5
claim "and go to others" test "$(of one "SELECT COUNT(*) FROM result
    WHERE name LIKE '%\\_1' AND sent_time > $begin + $day")" -gt 5
claim "at the hours of transitions" test "$(of one "SELECT COUNT(*) FROM result
    WHERE name LIKE '%\\_1' AND (create_time - $begin) MOD (3 * 3600) <> 0")" = 0
claim "hosts are heard after the outage" test "$(of one "SELECT COUNT(*) FROM result
    WHERE received_time > $begin + 2 * $day")" -gt 20
claim "requests failed in it" test "$(figure failed_rpcs)" -gt 10

# delay URL: what the server asks for in the 40th of so many requests at one moment.
delay() {
    for ((i = 0; i < 40; i++)); do
        post "$1" "$request" -H "X-Simulated-Time: $((begin + 9 * day))" >"$work/reply"
    done
    sed -n 's|.*<request_delay>\([0-9]*\).*|\1|p' "$work/reply"
}
claim "load delays where it is said to cost" test "$(delay "$second")" -gt $(($(delay "$first") + 60))

volunteers --quiet --transition "exit 3" "$work/crowd" "$first" >"$work/exit.json" 2>"$work/exit.err"
claim "a transition that fails ends the run" test $? -eq 1
claim "with its words" grep -q "exit 3: exit status 3" "$work/exit.err"
volunteers --quiet --patience 0.5 "$work/crowd" http://127.0.0.1:1/ >"$work/away.json" 2>"$work/away.err"
claim "so does a server that stays away" test $? -eq 1
claim "which is named" grep -q "http://127.0.0.1:1/: no answer for 0.5 s" "$work/away.err"

sed -i 's/^days .*/days 3000/' "$work/crowd"
"$QM_BINARY_DIR/qmvolunteers" --authenticator "$account" "$work/crowd" "$first" >"$work/ended.json" 2>"$work/ended.err" &
crowd_pid=$!
within 20 grep -q "RPCs/s" "$work/ended.err"
kill -INT $crowd_pid
wait $crowd_pid
claim "a signal ends a run early" test $? -eq 130
claim "which has figures" grep -q '"idle_fraction"' "$work/ended.json"
finish
