#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client computes a job for longer than it has time. Its server hears of it meanwhile, so the
# job is not made again, and its result is taken and gets credit an hour after the deadline. For three
# hours to go by, the rows of the database are moved back.
# shellcheck disable=SC2317 # within calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"

cat >"$work/app" <<APP
#!/bin/sh
while [ ! -e $work/enough ]; do sleep 0.5; done
echo 0 >boinc_finish_called
APP
chmod 755 "$work/app"
# By the estimates it would not be sent: six hours are to be done in two.
client_project "$work/app" "<extend_deadlines>1</extend_deadlines>" "<ignore_delay_bound>1</ignore_delay_bound>"
sed 's|<rsc_fpops_est>.*</|<rsc_fpops_est>2.2e13</|; s|<rsc_fpops_bound>.*</|<rsc_fpops_bound>1e20</|
    s|<delay_bound>.*</|<delay_bound>7200</|' "$QM_SOURCE_DIR/tools/demo/in.xml" >"$work/in.xml"
new_job() { # NAME
    in_project --project "$project" jobs create --app demo --in "$work/in.xml" --wu_name "$1" \
        --out "$QM_SOURCE_DIR/templates/none_out.xml" "$QM_SOURCE_DIR/LICENSE"
}
of() { rows "SELECT $2 FROM result WHERE name = '$1_0'"; } # NAME COLUMN
runs_long() { (cd "$client" && boinccmd --host "127.0.0.1:$(cat control_port)" \
    --passwd "$(cat gui_rpc_auth.cfg)" --get_tasks) 2>&1 | grep -q 'active_task_state: EXECUTING'; }
has_result() { [ "$(of late server_state)" = 5 ]; }
transition() { in_project --project "$project" transition --trust; }

new_job late
start_client --cpus 1
claim "the client runs the job" within 60 runs_long
told=$(of late "sent_time + 7200")
claim "it has two hours" test "$(of late report_deadline)" = "$told"
update_client
claim "the server hears that it will be late, and gives it twice its time" \
    test "$(of late report_deadline)" = $((told + 7200))
# Another one that nobody has heard of.
new_job silent
rows "UPDATE result SET server_state = 4, hostid = 4242, sent_time = $((told - 7200)), report_deadline = $told
    WHERE name = 'silent_0'; UPDATE workunit SET transition_time = $told"
rows "UPDATE result SET sent_time = sent_time - 10800, report_deadline = report_deadline - 10800;
    UPDATE workunit SET transition_time = transition_time - 10800"
transition
claim "an hour after its deadline it is not given up" test "$(of late server_state)" = 4
claim "nor made again" test "$(rows "SELECT COUNT(*) FROM result WHERE name LIKE 'late%'")" = 1
claim "as the other is" test "$(of silent outcome)" = 4
touch "$work/enough"
for _ in {1..10}; do
    update_client || break
    ! has_result || break
done
claim "its result is taken" test "$(of late outcome)" = 1
claim "after its deadline" test "$(of late "received_time > sent_time + 7200 + 3500")" = 1
transition
claim "it is the answer" test "$(rows "SELECT COUNT(*) FROM workunit WHERE name = 'late' AND canonical_resultid > 0")" = 1
claim "and has its credit" test "$(of late "validate_state = 1 AND granted_credit > 0")" = 1
claim "its host and volunteer too" test "$(rows "SELECT COUNT(*) FROM host, user WHERE host.userid = user.id
    AND host.total_credit > 0 AND user.total_credit > 0")" = 1
finish
