#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Finished jobs are given to a command, at least once, and marked only when it has ended well.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
now=1800000000

new_project "<upload_dir>$work/up loads</upload_dir>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
uploads="$work/up loads"
mkdir "$uploads"
touch "$uploads/another"
never=2147483647

# add_job ID ERROR_MASK [CONTENT]: finished; with an answer of two files, if there is a content, of
# which the second is optional and not there.
add_job() {
    rows "SET sql_mode = ''; INSERT INTO workunit SET id = $1, appid = 1, name = 'job $1', batch = 5,
        error_mask = $2, assimilate_state = 1, transition_time = $never, delay_bound = 86400"
    [ $# -ge 3 ] || return 0
    printf '%s' "$3" >"$uploads/result_$1 0"
    rows "SET sql_mode = ''; INSERT INTO result SET id = ${1}1, workunitid = $1, appid = 1, name = 'result_$1',
        server_state = 5, outcome = 1, validate_state = 1, received_time = $now, xml_doc_in =
        '<file_info><name>result_$1 0</name></file_info><file_info><name>more</name></file_info>
        <result><file_ref><file_name>result_$1 0</file_name><open_name>out</open_name></file_ref>
        <file_ref><file_name>more</file_name><open_name>more</open_name><optional/></file_ref></result>';
        UPDATE workunit SET canonical_resultid = ${1}1 WHERE id = $1"
}
cat >"$work/take" <<'SH'
#!/bin/bash
# Writes down what it gets; then does what the file says.
{
    printf '<%s>' "$QM_JOB_ID" "$QM_JOB" "$QM_APP" "$QM_BATCH" "$QM_RESULT" "$QM_ERROR_MASK" "$@"
    echo
} >>"${0%/*}/taken"
case $(cat "$1" 2>/dev/null) in
    later*) exit 3 ;;
    broken*) exit 1 ;;
    slow*) sleep 30 ;;
esac
exit 0
SH
chmod +x "$work/take"
take="'$work/take'"
assimilate() { figures=$(qmctl transition --now "$now" --json --assimilate "$take" 2>"$work/assimilate.log"); }
counted() { # NAME NUMBER...
    while [ $# -gt 0 ]; do
        grep -q "\"$1\": $2[,}]" <<<"$figures" || {
            say "$1: $figures"
            return 1
        }
        shift 2
    done
}
job() { rows "SELECT $2 FROM workunit WHERE id = $1"; }
times_taken() { grep -c "^<$1>" "$work/taken"; }

# --- an answer, a failure, and neither
add_job 1 0 'a; touch hacked'
add_job 2 2
add_job 3 0
assimilate
claim "all that is finished is given on" counted assimilated 3 deferred 0 put_off 0
claim "an answer with its files" grep -qxF "<1><job 1><work><5><result_1><0><$uploads/result_1 0><>" "$work/taken"
claim "a failure without" grep -qxF '<2><job 2><work><5><><2>' "$work/taken"
claim "no answer and no error is an error" grep -qxF '<3><job 3><work><5><><32>' "$work/taken"
claim "they are marked and due" test "$(rows "SELECT GROUP_CONCAT(assimilate_state, ' ', transition_time, ' ',
    error_mask ORDER BY id) FROM workunit")" = "2 $now 0,2 $now 2,2 $now 32"
assimilate
claim "once" test "$(wc -l <"$work/taken")" = 3
claim "files may go then" test "$(job 1 file_delete_state)$(rows "SELECT file_delete_state FROM result")" = 11

# --- later
rows "DELETE FROM workunit; DELETE FROM result"
add_job 4 0 later
assimilate
claim "it may want a job later" counted deferred 1 assimilated 0
claim "which is not marked" test "$(job 4 'assimilate_state, transition_time')" = $'0\t'$((now + 600))
assimilate
claim "not at once" test "$(times_taken 4)" = 1
printf 'fine' >"$uploads/result_4 0"
now=$((now + 600)) assimilate
claim "then" counted to_assimilate 1 assimilated 1

# --- failures
for i in 5 6 7 8; do add_job $i 0 broken; done
add_job 9 0 fine
assimilate
claim "a command that fails marks nothing" counted assimilated 0 put_off 3
claim "after three in a row the others wait" test "$(rows "SELECT SUM(assimilate_state) FROM workunit WHERE id > 4")" = 5
claim "which is said" grep -q 'assimilation of job job 5: the command ended with status 1; tried again' "$work/assimilate.log"
"$QM_BINARY_DIR/qmctl" --project "$project" transition --assimilate "$take" --loop 1 >"$work/loop.log" 2>&1 &
loop_pid=$!
started+=("$loop_pid")
is_taken() { [ "$(job 9 assimilate_state)" = 2 ]; }
claim "those that fail do not stand in the way of others" within 20 is_taken
claim "and wait meanwhile" test "$(times_taken 5)" = 2
end_process "$loop_pid"

# --- killed while the command runs
rows "DELETE FROM workunit; DELETE FROM result"
add_job 10 0 slow
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --assimilate "$take" >"$work/killed.log" 2>&1 &
killed_pid=$!
begins() { [ "$(times_taken 10)" = 1 ]; }
claim "a long one begins" within 10 begins
command_pid=$(pgrep -P "$killed_pid" | head -n 1)
kill -KILL "$killed_pid"
wait "$killed_pid" 2>/dev/null
[ -z "$command_pid" ] || kill -KILL -- "-$command_pid" 2>/dev/null
claim "killed, it is not marked" test "$(job 10 assimilate_state)" = 1
printf 'fine' >"$uploads/result_10 0"
assimilate
claim "and is given on again" counted assimilated 1
claim "under the same number" test "$(times_taken 10)" = 2
claim "no name became a command" not test -e "$work/hacked" -o -e hacked
qmctl transition --assimilate '' >/dev/null 2>&1
claim "an empty command is none" test $? -eq 2
finish
