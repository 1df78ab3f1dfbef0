#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Results are compared, credited, and given on: a quorum of two with a wrong result, files that are
# missing, commands that misbehave, credit and statistics worked by hand.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
now=1800000000

new_project "<upload_dir>$work/up loads</upload_dir>" "<daily_result_quota>500</daily_result_quota>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
uploads="$work/up loads"
mkdir "$uploads"
touch "$uploads/another"

# add_job ID QUORUM TARGET: a workunit of 3.6e13 FLOP.
add_job() {
    rows "SET sql_mode = ''; INSERT INTO workunit SET id = $1, appid = 1, name = 'job_$1', min_quorum = $2,
        target_nresults = $3, max_success_results = 6, max_total_results = 9, max_error_results = 5,
        rsc_fpops_est = 3.6e13, need_validate = 1, transition_time = 2147483647, delay_bound = 86400,
        result_template_file = 'templates/none'"
}
# add_result ID JOB HOST [CONTENT]: a success that took an hour and was reported after two; with
# its file, if there is a content.
add_result() {
    rows "SET sql_mode = ''; INSERT INTO result SET id = $1, workunitid = $2, appid = 1, hostid = $3,
        name = 'result_$1', server_state = 5, outcome = 1, sent_time = $((now - 7200)), received_time = $now,
        elapsed_time = 3600, cpu_time = 3500, flops_estimate = 5e9, app_version_id = 1, xml_doc_in =
        '<file_info><name>result_$1 0</name><max_nbytes>1e6</max_nbytes></file_info>
        <result><file_ref><file_name>result_$1 0</file_name><open_name>out</open_name></file_ref></result>'"
    [ $# -lt 4 ] || printf '%s' "$4" >"$uploads/result_$1 0"
}
# validate OPTION...: what was counted in $figures.
validate() { figures=$(qmctl transition --now "$now" --json "$@" 2>"$work/validate.log"); }
states() { rows "SELECT GROUP_CONCAT(validate_state ORDER BY id SEPARATOR '') FROM result WHERE workunitid = $1"; }
job() { rows "SELECT $2 FROM workunit WHERE id = $1"; }

rows "SET sql_mode = ''; INSERT INTO team SET id = 1, name = 'team', expavg_time = $now;
    UPDATE user SET teamid = 1, expavg_credit = 50, expavg_time = $((now - 10800)) WHERE id = 1;
    INSERT INTO user SET id = 2, name = 'Bob', email_addr = 'b@example.org', expavg_time = $now;
    INSERT INTO host SET id = 1, userid = 1, expavg_time = $now; INSERT INTO host SET id = 2, userid = 2,
    expavg_time = $now, avg_turnaround = 1000; INSERT INTO host SET id = 3, userid = 2, expavg_time = $now;
    INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day, consecutive_valid)
    VALUES (1, 1, 500, 4), (2, 1, 500, 4), (3, 1, 501, 4)"

# --- a quorum of two with one wrong result
add_job 1 2 2
add_result 11 1 1 right
add_result 12 1 3 wrong
validate --validate bitwise
claim "two that differ are no answer" counted undecided 2 accepted 0
claim "a third is wanted at once" test "$(job 1 'target_nresults, transition_time, need_validate')" = "3"$'\t'"$now"$'\t'"0"
claim "both wait for it" test "$(states 1)" = 44
claim "nobody has credit" test "$(rows "SELECT SUM(total_credit) FROM user")" = 0
add_result 13 1 2 right
rows "UPDATE workunit SET need_validate = 1 WHERE id = 1"
validate --validate bitwise
claim "the third decides" counted accepted 1 valid 2 invalid 1 to_assimilate 1
claim "the wrong one is found" test "$(states 1)" = 121
claim "the first right one is the answer" test "$(job 1 'canonical_resultid, assimilate_state, need_validate,
    ROUND(canonical_credit, 4)')" = $'11\t1\t0\t83.3333'
claim "credit goes by the declared size" test "$(rows "SELECT GROUP_CONCAT(ROUND(total_credit, 4) ORDER BY id) FROM user")" = "83.3333,83.3333"
claim "the average falls and rises" test "$(rows "SELECT ROUND(expavg_credit, 4) FROM user WHERE id = 1")" = 57.5858
claim "the team shares in it" test "$(rows "SELECT ROUND(total_credit, 4) FROM team")" = 83.3333
claim "each host has its own" test "$(rows "SELECT GROUP_CONCAT(ROUND(total_credit, 4) ORDER BY id) FROM host")" = "83.3333,83.3333,0.0000"
claim "what became of the results is counted" test "$(rows "SELECT GROUP_CONCAT(fate, 'x', results ORDER BY fate) FROM (SELECT fate, SUM(results) AS results FROM qm_fate WHERE batch = 0 AND fate IN (7, 8) GROUP BY fate) AS sums")" = "$(rows "SELECT CONCAT_WS(',', CONCAT('7x', NULLIF(SUM(validate_state = 1), 0)), CONCAT('8x', NULLIF(SUM(validate_state = 2), 0))) FROM result")"
claim "turnaround is averaged" test "$(rows "SELECT GROUP_CONCAT(ROUND(avg_turnaround) ORDER BY id) FROM host")" = "7200,2860,0"
claim "hosts that were right may have more" test "$(rows "SELECT GROUP_CONCAT(max_jobs_per_day, ' ', consecutive_valid
    ORDER BY host_id) FROM host_app_version")" = "501 5,501 5,500 0"
claim "and are known better" test "$(rows "SELECT GROUP_CONCAT(et_n, ' ', ROUND(et_avg * 1e10, 6), ' ', pfc_avg * 2, ' ',
    turnaround_avg) FROM host_app_version WHERE et_n > 0")" = "1 1.000000 1 7200,1 1.000000 1 7200"
claim "once" test "$(
    validate --validate bitwise
    counted jobs 0 valid 0 invalid 0 && rows "SELECT ROUND(total_credit, 4) FROM user WHERE id = 1"
)" = 83.3333

# --- what is not the same
differ() { # JOB CONTENT CONTENT
    add_job "$1" 2 2
    add_result "${1}1" "$1" 1 "$2"
    add_result "${1}2" "$1" 2 "$3"
    validate --validate bitwise
    [ "$(states "$1")" = 44 ]
}
claim "the beginning of a file and all of it" differ 30 answer answers
claim "a byte at the end of a long one" differ 31 "$(head -c 200000 /dev/zero | tr '\0' x)y" "$(head -c 200000 /dev/zero | tr '\0' x)z"
claim "a file and an empty one" differ 32 right ''
add_job 33 2 2
add_result 331 33 1
add_result 332 33 2 ''
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '</open_name>', '</open_name><optional/>') WHERE workunitid = 33"
validate --validate bitwise
claim "an empty file and none, where it is optional" test "$(states 33)" = 44
add_job 34 2 2
add_result 341 34 1 one
add_result 342 34 2 other
rows "UPDATE result SET xml_doc_in = REPLACE(xml_doc_in, '<max_nbytes>', '<no_validate/><max_nbytes>') WHERE workunitid = 34"
validate --validate bitwise
claim "files that are not to be validated may differ" test "$(states 34)" = 11
# Clients compress what is marked gzip_when_done; on Windows zlib writes another system into the header, and other
# programs write the time, too.
add_job 35 2 2
add_result 351 35 1
add_result 352 35 2
head -c 50000 /dev/zero | gzip -n >"$uploads/result_351 0"
{ head -c 4 "$uploads/result_351 0" && printf '\x01\x02\x03\x04\x04\x0b' && tail -c +11 "$uploads/result_351 0"; } >"$uploads/result_352 0"
validate --validate bitwise
claim "when and where a file was compressed" test "$(cmp -l "$uploads"/result_35[12]\ 0 | wc -l) $(states 35)" = "6 11"
add_job 36 2 2
add_result 361 36 1
add_result 362 36 2
head -c 50000 /dev/zero | gzip -n >"$uploads/result_361 0"
{ head -c -8 "$uploads/result_361 0" && printf '12345678'; } >"$uploads/result_362 0"
validate --validate bitwise
claim "but not what it is of" test "$(states 36)" = 44
claim "nor the same bytes of other files" differ 37 abcd123456efgh abcd654321efgh
rows "UPDATE workunit SET transition_time = 2147483647 WHERE id >= 30"

# --- a limit
for i in 50 51 52; do
    add_job $i 1 1
    add_result ${i}1 $i 1 alike
done
validate --validate bitwise --limit 2
claim "no more in a round than the limit says" counted accepted 2
validate --validate bitwise
claim "the others in the next" counted accepted 1

# --- files that are missing
add_job 2 1 1
add_result 21 2 1
validate --validate bitwise
claim "a success without its file is an error" counted invalid 1 accepted 0
claim "by outcome and state" test "$(rows "SELECT outcome, validate_state FROM result WHERE id = 21")" = $'6\t2'
claim "and is made up for" test "$(job 2 'target_nresults, transition_time')" = "1"$'\t'"$now"
rows "UPDATE workunit SET transition_time = 2147483647"
mv "$uploads" "$uploads.away"
mkdir -p "$uploads/.partial" # an upload handler was started there
add_job 3 1 1
add_result 31 3 1
validate --validate bitwise
claim "where no file is, the folder is missing" counted invalid 0 put_off 1
claim "which is said" grep -q "job_3: .* is empty: is it mounted?; tried again in 10 minutes" "$work/validate.log"
claim "and no result is blamed" test "$(states 3)" = 0
claim "it comes again" test "$(job 3 'need_validate, transition_time')" = "0"$'\t'"$((now + 600))"
rmdir "$uploads/.partial" "$uploads"
mv "$uploads.away" "$uploads"
printf 'here' >"$uploads/result_31 0"
now=$((now + 601)) validate --validate bitwise
claim "with the folder the file" counted to_validate 1 accepted 1 valid 1

# --- commands
cat >"$work/compare" <<'SH'
#!/bin/bash
# Compares by the first letter, and does what the files say.
printf '<%s>' "$QM_JOB" "$QM_JOB_ID" "$QM_APP" "$@" >>"${0%/*}/calls"
[ $# -eq 2 ] || exit 9
case $(cat "$1") in
    useless*) exit 1 ;;
    later*) exit 3 ;;
    broken*) exit 4 ;;
    trouble*) exit 2 ;; # as of cmp, diff and grep
    killed*) kill -9 $$ ;;
    loud*) head -c 1000000000 /dev/zero ;;
    slow*)
        trap 'exit 0' TERM
        sleep 60 &
        wait
        ;;
    stubborn*)
        trap '' TERM
        tail -f "${0%/*}/calls" >/dev/null
        ;;
esac
[ "$(head -c 1 "$1")" = "$(head -c 1 "$2")" ]
SH
chmod +x "$work/compare"
compare="'$work/compare'"
add_job 4 2 2
add_result 41 4 1 "apple; touch $work/hacked"
add_result 42 4 2 "avocado"
validate --validate "$compare"
claim "a command may find what bytes do not" counted accepted 1 valid 2
claim "it gets both paths whole, and what it is about" grep -qF \
    "<job_4><4><work><$uploads/result_41 0><$uploads/result_42 0>" "$work/calls"
add_job 5 1 1
add_result 51 5 1 useless
validate --validate "$compare"
claim "it may refuse a result" test "$(states 5)$(rows "SELECT outcome FROM result WHERE id = 51")" = 26
add_job 6 1 1
add_result 61 6 1 loud
validate --validate "$compare"
claim "what it prints costs nothing" counted accepted 1
n=7
for what in later broken trouble killed slow stubborn; do
    add_job $n 1 1
    add_result ${n}1 $n 1 "$what"
    begun=$SECONDS
    validate --validate "$compare" --command-seconds 1
    claim "$what: no result is judged by it" test "$(states $n)" = 0
    claim "$what: it is tried again" counted put_off 1 valid 0 invalid 0
    [ "$what" != stubborn ] || claim "what a command has started is ended with it" not pgrep -f "tail -f $work/calls"
    [ "$what" != slow ] || claim "a command that hangs is ended" test $((SECONDS - begun)) -lt 10
    claim "$what: the log names the job" grep -q "validation of job job_$n: the command" "$work/validate.log"
    rows "UPDATE workunit SET need_validate = 0, transition_time = 2147483647"
    n=$((n + 1))
done
add_job 20 1 1
add_result 201 20 1 a
for option in --validate --assimilate; do
    for command in "$work/none" "$work" there-is-no-such-command; do
        qmctl transition --loop 1 "$option" "$command" >"$work/refused.log" 2>&1
        claim "$option '$command': it is refused before anything is done" test $? = 2
        claim "$option '$command': it is named" grep -q -- "$option: .*$command" "$work/refused.log"
    done
done
claim "so it judges nothing" test "$(states 20)" = 0
for command in "'$work/there is none'" "(" "test ("; do
    rows "UPDATE workunit SET need_validate = 1 WHERE id = 20"
    validate --validate "$command"
    claim "nor does '$command', which is none" test "$(states 20)" = 0
done
rows "UPDATE workunit SET need_validate = 0, transition_time = 2147483647"

for i in 22 23 24 25; do
    add_job $i 1 1
    add_result ${i}1 $i 1 slow
done
validate --validate "$compare" --command-seconds 1
claim "a command that hangs for all does not keep everything else waiting" test "$(rows "SELECT COUNT(*) FROM workunit
    WHERE need_validate = 1")" = 1
claim "the others come in the next round" counted put_off 3
rows "UPDATE workunit SET need_validate = 0, transition_time = 2147483647"

# A command that reads lines compares by the first letter, too.
cat >"$work/lines" <<'SH'
#!/bin/bash
while read -r line; do
    echo "$line" >>"${0%/*}/read"
    id=${line#'{"id": '} id=${id%%,*}
    mapfile -t paths < <(grep -oE '"[^"]*/result_[^"]*"' <<<"$line" | tr -d '"')
    first=$(head -c 1 "${paths[0]}") last=$(head -c 1 "${paths[-1]}")
    case $first in
        l) verdict=3 ;;
        u) verdict=1 ;;
        *) [ "$first" = "$last" ] && verdict=0 || verdict=1 ;;
    esac
    echo "{\"id\":$id,\"verdict\":$verdict}"
done
SH
chmod +x "$work/lines"
add_job 40 2 2
add_result 401 40 1 apple
add_result 402 40 2 avocado
add_job 41 2 2
add_result 411 41 1 pear
add_result 412 41 2 quince
add_job 42 1 1
add_result 421 42 1 useless
add_job 43 1 1
add_result 431 43 1 later
validate --validate-batch "'$work/lines'"
claim "a command that reads lines decides" test "$(states 40) $(states 41) $(states 42) $(states 43)" = "11 44 2 0"
claim "what it wants later is put off" counted accepted 1 valid 2 invalid 1 undecided 2 put_off 1
claim "it is asked about one and about two" test "$(grep -c '"job_id": 40, "job": "job_40", "app": "work", "results": \[{"id": 40[12], "files": \["'"$uploads"'/result_40[12] 0"\]}\]}' "$work/read") $(grep -c \
    '"job_id": 40, .*"results": \[{"id": 401, "files": \["[^"]*"\]}, {"id": 402, "files": \["[^"]*"\]}\]}' "$work/read")" = "2 1"
rows "UPDATE workunit SET need_validate = 0, transition_time = 2147483647"
for i in {60..79}; do
    add_job "$i" 2 2
    add_result "${i}1" "$i" 1 apple
    add_result "${i}2" "$i" 2 avocado
done
validate --validate "$compare" --parallel 8
claim "several commands at a time find the same" counted accepted 20 valid 40

# Ended by a signal while the command runs: its exit status 0 counts for nothing.
add_job 21 1 1
add_result 211 21 1 slow
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --validate "$compare" >"$work/ended.log" 2>&1 &
qmctl_pid=$!
is_asked() { grep -q '<job_21>' "$work/calls"; }
claim "the command is asked" within 10 is_asked
kill -TERM "$qmctl_pid"
wait "$qmctl_pid"
claim "we end by the signal" test $? -eq 143
claim "nothing is judged" test "$(states 21)" = 0
rows "UPDATE workunit SET need_validate = 0"

# --- two commands at once, and results that waited before --trust was given
for i in $(seq 1000 1199); do
    echo "INSERT INTO workunit SET id = $i, appid = 1, name = 'many_$i', min_quorum = 2, target_nresults = 2,
        max_success_results = 6, rsc_fpops_est = 4.32e11, need_validate = 1, transition_time = 2147483647;
        INSERT INTO result SET id = ${i}1, workunitid = $i, hostid = 1, name = 'many_${i}_1', server_state = 5,
        outcome = 1, app_version_id = 1; INSERT INTO result SET id = ${i}2, workunitid = $i, hostid = 2,
        name = 'many_${i}_2', server_state = 5, outcome = 1, app_version_id = 1;"
done >"$work/many.sql"
rows "SET sql_mode = ''; $(cat "$work/many.sql"); UPDATE user SET total_credit = 0"
for side in left right; do
    qmctl transition --now "$now" --trust --json >"$work/$side.json" 2>"$work/$side.log" &
    sides+=($!)
done
wait "${sides[@]}"
claim "two commands share the work" test "$(cat "$work"/{left,right}.json | grep -oE '"accepted": [0-9]+' |
    awk '{ sum += $2 } END { print sum }')" = 200
claim "credit is granted once" test "$(rows "SELECT GROUP_CONCAT(ROUND(total_credit, 6) ORDER BY id) FROM user")" = \
    "200.000000,200.000000"
# Killed at any moment and begun again.
rows "UPDATE workunit SET need_validate = 1, canonical_resultid = 0, canonical_credit = 0, assimilate_state = 0 WHERE id >= 1000;
    UPDATE result SET validate_state = 0, granted_credit = 0 WHERE workunitid >= 1000; UPDATE user SET total_credit = 0"
left=200
kills=0
while [ "$left" -gt 0 ] && [ "$kills" -lt 30 ]; do
    "$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --trust >/dev/null 2>&1 &
    killed_pid=$!
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -KILL "$killed_pid" 2>/dev/null && kills=$((kills + 1))
    wait "$killed_pid" 2>/dev/null
    rows "UPDATE qm_lease SET valid_until = 0" # a minute goes by
    left=$(rows "SELECT COUNT(*) FROM workunit WHERE id >= 1000 AND need_validate = 1")
done
validate --trust
say "killed $kills times, $left jobs left"
claim "killed, nothing is granted twice or left out" test "$(rows "SELECT GROUP_CONCAT(ROUND(total_credit, 6) ORDER BY id) FROM user")" = \
    "200.000000,200.000000"
claim "the text names what was done" grep -q '^0 jobs in the round$' <(qmctl transition --now "$now" --trust)
qmctl transition --trust --validate bitwise >/dev/null 2>&1
claim "trust compares nothing" test $? -eq 2
claim "no name became a command" not test -e "$work/hacked"
finish
