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
    tedious*) sleep 0.7 && exit 1 ;;
    waiting*) while [ ! -e "${0%/*}/go" ]; do sleep 0.1; done ;;
    slow*) sleep 30 ;;
esac
exit 0
SH
chmod +x "$work/take"
take="'$work/take'"
assimilate() { figures=$(qmctl transition --now "$now" --json --assimilate "$take" 2>"$work/assimilate.log"); }
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

rows "DELETE FROM workunit; DELETE FROM result"
for i in 40 41 42; do add_job $i 2; done
figures=$(qmctl transition --now "$now" --json --limit 2 --assimilate "$take" 2>"$work/assimilate.log")
claim "no more in a round than the limit says" counted assimilated 2

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
claim "a command that fails marks nothing, and does not keep others waiting" counted assimilated 1 put_off 4
claim "which is said" grep -q 'assimilation of job job 5: the command ended with status 1; tried again' "$work/assimilate.log"
rows "DELETE FROM workunit; DELETE FROM result"
for i in $(seq 50 57); do add_job "$i" 0 tedious; done
assimilate
claim "when failures take long, the others wait" test "$(rows "SELECT SUM(assimilate_state) FROM workunit")" = 8
claim "for the next round" test "$(grep -c '^<5.>' "$work/taken")" -lt 8
add_job 58 0 fine
tries=0
while [ "$(job 58 assimilate_state)" != 2 ] && [ $tries -lt 40 ]; do
    assimilate
    tries=$((tries + 1))
done
claim "but in the end each has its turn, though the command begins anew each time" test "$(job 58 assimilate_state)" = 2
say "$tries rounds"
: >"$work/taken"
"$QM_BINARY_DIR/qmctl" --project "$project" transition --assimilate "$take" --loop 1 >"$work/loop.log" 2>&1 &
loop_pid=$!
started+=("$loop_pid")
add_job 61 0 fine
is_taken() { [ "$(job 61 assimilate_state)" = 2 ]; }
claim "those that fail do not stand in the way of others" within 60 is_taken
claim "and wait meanwhile" test "$(times_taken 50)" -le 1
for id in $(rows "SELECT id FROM information_schema.processlist WHERE db = '$schema' AND id <> CONNECTION_ID()"); do
    rows "KILL $id"
done
add_job 62 0 fine
is_taken() { [ "$(job 62 assimilate_state)" = 2 ]; }
claim "nor does a lost connection" within 60 is_taken
end_process "$loop_pid"

# --- many failures
rows "DELETE FROM workunit; DELETE FROM result"
for i in {100..124}; do add_job "$i" 0 broken; done
assimilate
# Nearly all of them, or fewer where the machine is so slow that they are a row of failures that took long.
tried=$(grep -cE '^<1[0-2][0-9]>' "$work/taken")
claim "each of many is counted" counted put_off "$tried"
claim "the first are named" test "$(grep -c '^qmctl: assimilation of job' "$work/assimilate.log")" = $((tried < 20 ? tried : 20))

# --- whose environment has such names too
rows "DELETE FROM workunit; DELETE FROM result"
add_job 70 0 fine
QM_JOB_ID=4711 QM_BATCH=4711 QM_RESULT=4711 QM_JOB=4711 assimilate
claim "a command is told of its job, not of another one" grep -qxF "<70><job 70><work><5><result_70><0><$uploads/result_70 0><>" "$work/taken"

# --- what takes long is heard of at a terminal, and only there
rows "DELETE FROM workunit; DELETE FROM result"
for i in {80..85}; do add_job "$i" 0 fine; done
script -qec "$(printf '%q ' "$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --limit 3 --assimilate 'sleep 1.1 #')" \
    /dev/null </dev/null >"$work/terminal.log" &
at_terminal=$!
qmctl transition --now "$now" --limit 3 --assimilate 'sleep 1.1 #' >"$work/no_terminal.log" 2>&1
wait "$at_terminal"
claim "a terminal shows how far it is" grep -qE '^[0-9]+ jobs assimilated in [0-9]+ s, [0-9]+ in a second' "$work/terminal.log"
claim "a log does not" not grep -q 'in a second' "$work/no_terminal.log"

# --- a terminal that goes away
hang_up() { # COMMAND: what runs it; the terminal goes away while the job is with the command
    "$@" "$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --assimilate "$take" >"$work/hangup.log" 2>&1 &
    hung_pid=$!
    within 10 begins_again && kill -HUP "$hung_pid" && sleep 0.3
    touch "$work/go"
    wait "$hung_pid"
    hung_status=$?
    rm -f "$work/go"
}
rows "DELETE FROM workunit; DELETE FROM result"
add_job 71 0 waiting
begins_again() { [ "$(times_taken 71)" = 1 ]; }
hang_up env
claim "ends us and the command" test $hung_status -eq 129
claim "which counts for nothing" test "$(job 71 assimilate_state)" = 1
begins_again() { [ "$(times_taken 71)" = 2 ]; }
hang_up nohup
claim "with nohup nothing ends" test $hung_status -eq 0
claim "and the job is marked" test "$(job 71 assimilate_state)" = 2

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
claim "the command runs" test -n "$command_pid"
claim "killed, qmctl takes it along" within 5 ended "$command_pid"
[ -z "$command_pid" ] || kill -KILL -- "-$command_pid" 2>/dev/null # what it had started
claim "and the job is not marked" test "$(job 10 assimilate_state)" = 1
assimilate
claim "for a minute it is left to whoever was killed" counted assimilated 0
rows "UPDATE qm_lease SET valid_until = 0"
printf 'fine' >"$uploads/result_10 0"
assimilate
claim "and is given on again" counted assimilated 1
claim "under the same number" test "$(times_taken 10)" = 2
claim "no name became a command" not test -e "$work/hacked" -o -e hacked

# --- by nobody
add_job 20 0 fine
add_job 21 2
figures=$(qmctl transition --now "$now" --json --assimilate none 2>>"$work/assimilate.log")
claim "with none for a command finished jobs are marked" counted assimilated 2
claim "with an answer and without" test "$(job 20 assimilate_state) $(job 21 assimilate_state)" = "2 2"
claim "and nobody got them" test "$(times_taken 20)$(times_taken 21)" = 00
qmctl transition --assimilate '' >/dev/null 2>&1
claim "an empty command is none" test $? -eq 2

# --- a command that reads lines
cat >"$work/lines" <<'SH'
#!/bin/bash
# Writes down what it gets, and answers: job 31 later, and 33 with something else.
while read -r line; do
    echo "$line" >>"${0%/*}/read"
    id=${line#'{"id": '} id=${id%%,*}
    case $id in
        31) echo '{"id":31,"verdict":3}' ;;
        33) echo 'what?' ;;
        *) echo "{\"id\": $id}" ;;
    esac
done
echo end >>"${0%/*}/read"
SH
chmod +x "$work/lines"
add_job 30 0 fine
rows "UPDATE workunit SET name = 'job \"30\"' WHERE id = 30"
add_job 31 0 fine
add_job 32 2
add_job 33 0 fine
add_job 34 0 fine
figures=$(qmctl transition --now "$now" --json --assimilate-batch "'$work/lines'" 2>"$work/assimilate.log")
claim "a command that reads lines gets all" counted assimilated 3 deferred 1 put_off 1
claim "with their files" grep -qxF '{"id": 30, "job": "job \"30\"", "app": "work", "batch": 5, "error_mask": 0, "result": "result_30", "files": ["'"$uploads"'/result_30 0", ""]}' "$work/read"
claim "a failure without" grep -qxF '{"id": 32, "job": "job 32", "app": "work", "batch": 5, "error_mask": 2, "result": "", "files": []}' "$work/read"
claim "only what was answered is marked" test "$(rows "SELECT GROUP_CONCAT(assimilate_state ORDER BY id SEPARATOR '') FROM workunit WHERE id BETWEEN 30 AND 34")" = 20212
claim "what went wrong has a second try, and is named" test "$(grep -c '"id": 33,' "$work/read") $(grep -c 'job 33: the command answered what is no answer: what?; tried again' "$work/assimilate.log")" = "2 1"
claim "it reads end of file when all is done" grep -qx end "$work/read"
mv "$uploads/result_33 0" "$uploads/result_33"$'\xfc'
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, 'result_33 0', CONCAT('result_33', x'fc')) WHERE id = 331"
qmctl transition --now "$now" --assimilate-batch "'$work/lines'" >/dev/null 2>"$work/assimilate.log"
claim "a name that JSON cannot hold is said" grep -q 'job 33: .* is no UTF-8, which JSON has to be' "$work/assimilate.log"
for options in "--assimilate none --assimilate-batch x" "--validate bitwise --validate-batch x" "--trust --validate-batch x" \
    "--assimilate none --parallel 2" "--validate-batch x --parallel 2" "--assimilate x --parallel 0"; do
    # shellcheck disable=SC2086 # words
    qmctl transition $options >/dev/null 2>&1
    claim "$options do not go together" test $? -ne 0
done
finish
