#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client with a buffer of ten days asks again and again for tasks that take it 8.2 hours and
# are due in 3 days. Its four CPUs can finish 4 * floor(72 / 8.2) = 32 of them, and it never gets
# more, where 108 were sent in complaint 4117. It says by itself what it has queued, because replies
# ask for that. QM_UPDATES: how often it asks (six times fit into a minute; from five on all are sent).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"

updates=${QM_UPDATES:-6}
most=32

# The tasks run for as long as this process, which is the first to be ended: a client that ends waits
# a minute for tasks that do not.
sleep 600 &
token=$!
started+=("$token")
cat >"$work/app" <<APP
#!/bin/sh
while [ -d /proc/$token ]; do sleep 1; done
APP
chmod 755 "$work/app"
client_project "$work/app" "<max_wus_to_send>2</max_wus_to_send>" # for each CPU
# A client that made no benchmark calls itself capable of 1e9 operations per second.
sed 's|\(<rsc_fpops_est>\).*\(</.*\)|\12.95e13\2|; s|\(<rsc_fpops_bound>\).*\(</.*\)|\11e18\2|
     s|\(<delay_bound>\).*\(</.*\)|\1259200\2|' "$QM_SOURCE_DIR/tools/demo/in.xml" >"$work/in.xml"
seq 10 >"$work/numbers"
for number in $(seq 108); do
    echo "--wu_name long_$number $work/numbers"
done >"$work/jobs"
in_project --project "$project" jobs create --app demo --in "$work/in.xml" \
    --out "$QM_SOURCE_DIR/templates/none_out.xml" --stdin <"$work/jobs"

in_progress() { rows "SELECT COUNT(*) FROM result WHERE server_state = 4"; }
listed() { grep -c '<ip_result>' "$last_request"; }

start_client --extra 10
started+=("$token") # before the client
was_most=0
unlisted=''
for number in $(seq "$updates"); do
    before=$(in_progress)
    update_client || break
    now=$(in_progress)
    [ "$now" -le "$was_most" ] || was_most=$now
    [ "$(listed)" -eq "$before" ] || unlisted="$unlisted $number: $(listed) of $before;"
    say "update $number: wants $(asked cpu_req_secs) s, lists $(listed), $now in progress"
done
claim "it asked $updates times" test "$requests" -eq $((updates + 1))
claim "never more than can be finished ($was_most)" test "$was_most" -le $most
claim "and not fewer in the end" test "$(in_progress)" -eq $most
claim "every request lists what is in progress ($unlisted)" test -z "$unlisted"
claim "the client wants more than that" test "$(asked cpu_req_secs | cut -d. -f1)" -gt 259200
claim "the log says why it gets nothing" log_has server ' sent=0 .* reason=deadline '
claim "the reply tells the client" grep -q '<no_work_deadlines/>' "$last_reply"
claim "and the volunteer" test "$(said 'Tasks for demo would not finish in time')" -gt 0
claim "the client takes them for as long as was meant" \
    grep -q '<time_remaining>29500.00</time_remaining>' "$last_request"
claim "nothing failed in the server" not grep -q 'level=\(critical\|error\)' "$work/server.log"
finish
