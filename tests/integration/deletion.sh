#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of finished jobs are deleted, and no others.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
now=1800000000

new_project "<upload_dir>$work/up loads</upload_dir>" "<download_dir>$work/down</download_dir>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
uploads="$work/up loads"
mkdir "$uploads" "$work/down"

file_info() { echo "<file_info><name>$1</name>${2:-}</file_info>"; }
file_ref() { echo "<file_ref><file_name>$1</file_name><open_name>in</open_name></file_ref>"; }
# add_job ID FILE_DELETE_STATE INPUT [CHILD]: assimilated; the child is of its file_info.
add_job() {
    rows "SET sql_mode = ''; INSERT INTO workunit SET id = $1, appid = 1, name = 'job_$1', file_delete_state = $2,
        assimilate_state = 2, transition_time = 2147483647, canonical_resultid = ${1}1,
        xml_doc = '$(file_info "$3" "${4:-}")<workunit>$(file_ref "$3")</workunit>'"
    echo "input" >"$work/down/$3"
}
# add_result ID JOB FILE_DELETE_STATE [CHILD]: over, with a file out_ID.
add_result() {
    rows "SET sql_mode = ''; INSERT INTO result SET id = $1, workunitid = $2, appid = 1, name = 'result_$1',
        server_state = 5, outcome = 1, validate_state = 1, file_delete_state = $3,
        xml_doc_in = '$(file_info "out $1" "${4:-}")<result>$(file_ref "out $1")</result>'"
    echo "output" >"$uploads/out $1"
}
delete_files() { figures=$(qmctl transition --now "$now" --json --delete-files 2>"$work/delete.log"); }
state_of() { rows "SELECT GROUP_CONCAT(file_delete_state ORDER BY id SEPARATOR '') FROM $1"; }

add_job 1 1 input_1
touch "$work/down/input_1.gz" "$work/down/input_1.md5" "$work/down/unknown" "$uploads/unknown"
add_job 2 1 shared
add_job 3 0 shared # still computed
add_job 4 1 work_1 # the name of an app version's file
add_job 5 1 input_5 '<no_delete/>'
add_job 6 1 input_6
rows "UPDATE workunit SET name = 'my_nodelete_job' WHERE id = 6"
add_job 7 1 input_7 # a host still has it: it was aborted from the web pages
add_job 8 1 input_8
rm "$work/down/input_8"
add_job 9 1 ../escape
add_job 10 1 input_10
add_job 11 0 input_10.gz # a file of its own
add_result 11 1 1
add_result 12 1 0
add_result 31 3 1 # an answer that nobody has taken
rows "UPDATE workunit SET assimilate_state = 1 WHERE id = 3"
add_result 51 5 1 '<no_delete/>'
add_result 71 7 0
rows "UPDATE result SET server_state = 4 WHERE id = 71"
add_result 81 8 1
rm "$uploads/out 81"
echo precious >"$work/escape"
qmctl transition --now "$now" >/dev/null
claim "without being asked nothing is deleted" test -e "$work/down/input_1" -a -e "$uploads/out 11"
delete_files
claim "an input, its siblings, another input and an output" counted files_deleted 5
claim "the input is gone with what lay beside it" not compgen -G "$work/down/input_1[.]*"
claim "so is the output" not test -e "$uploads/out 11"
for file in down/unknown down/shared down/input_5 down/input_6 down/input_7 down/input_10.gz down/work_1 escape \
    "up loads/unknown" "up loads/out 12" "up loads/out 31" "up loads/out 51" "up loads/out 71"; do
    [ -e "$work/$file" ] || claim_failed "$file is still there"
done
claim "the rows say so" test "$(state_of workunit) $(state_of result)" = "22022212220 201202"
rows "UPDATE result SET server_state = 5; UPDATE workunit SET assimilate_state = 2; UPDATE workunit SET
    file_delete_state = 1 WHERE id = 3"
delete_files
claim "the last job that names a file takes it along" not test -e "$work/down/shared"
claim "an answer that was taken goes too" not test -e "$uploads/out 31"
claim "what is unknown stays" test -e "$work/down/unknown" -a -e "$uploads/unknown"

# --- a job that is being made names the file of one that is finished
add_job 20 1 again
mkfifo "$work/lines"
printf '<result></result>' >"$work/out.xml"
"$QM_BINARY_DIR/qmctl" --project "$project" jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
    --out "$work/out.xml" --stdin --quiet <"$work/lines" >"$work/create.log" 2>&1 &
creator_pid=$!
started+=("$creator_pid")
exec 8>"$work/lines"
echo "--wu_name later again" >&8
is_making() { ! flock -n -x "$work/down" true; }
claim "a job under way keeps the input files" within 10 is_making
delete_files
claim "though nobody else knows of it" test -e "$work/down/again"
exec 8>&-
wait "$creator_pid"
claim "it is made" test "$(rows "SELECT COUNT(*) FROM workunit WHERE name = 'later'")" = 1
delete_files
claim "then the database knows" test -e "$work/down/again" -a "$(rows "SELECT file_delete_state FROM workunit WHERE id = 20")" = 2

# --- a command that makes jobs is killed, when a part of them is committed
lists() { find "$work/down/.placed" -type f | wc -l; }
create_jobs() { # COUNT: a command that waits for more lines
    exec 8>&-
    "$QM_BINARY_DIR/qmctl" --project "$project" jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
        --out "$work/killed_out.xml" --stdin --quiet --commit_every 1 <"$work/lines" >"$work/create.log" 2>&1 &
    creator_pid=$!
    started+=("$creator_pid")
    exec 8>"$work/lines"
    for ((i = 1; i <= $1; i++)); do
        echo "input $i" >"$work/in/killed_$i"
        echo "--wu_name killed_$i $work/in/killed_$i"
    done >&8
}
placed() { find "$work/down" -name 'killed_*' | wc -l; }
all_are_placed() { [ "$(placed)" = 1100 ]; }
mkdir "$work/in"
cp "$work/out.xml" "$work/killed_out.xml" # which is copied to templates/
create_jobs 1100
claim "files of many jobs are placed" within 60 all_are_placed
made=$(rows "SELECT COUNT(*) FROM workunit WHERE name LIKE 'killed%'")
claim "of which some are made" test "$made" -ge 1 -a "$made" -lt 1100
kill -KILL "$creator_pid"
exec 8>&-
wait "$creator_pid" 2>/dev/null
claim "a list of them stays" test "$(lists)" = 1
delete_files
claim "for a minute" test "$(lists) $(placed)" = "1 1100"
touch -d '-100 seconds' "$work"/down/.placed/*
qmctl transition --now "$now" >/dev/null
claim "and until files are deleted" test "$(lists) $(placed)" = "1 1100"
mv "$work/down/killed_1099" "$work/moved"
echo "another" >"$work/down/killed_1099"
delete_files
claim "what no job needs goes, and what another put there stays" test "$(placed)" = $((made + 1)) -a -e "$work/down/killed_1099"
claim "so the jobs that are there have theirs" test "$(rows "SELECT GROUP_CONCAT(name) FROM workunit WHERE name LIKE 'killed%'" | tr ',' '\n' | sort)" = "$(find "$work/down" -name 'killed_*' ! -name killed_1099 -printf '%f\n' | sort)"
claim "and their template" test -e "$project/templates/killed_out.xml"
claim "the list is cleared" test "$(lists)" = 0
rm "$work"/down/killed_*
rows "DELETE FROM result WHERE name LIKE 'killed%'; DELETE FROM workunit WHERE name LIKE 'killed%'"

# --- jobs whose own files could not be deleted need theirs too, while a host may ask for them
add_job 94 1 common
add_job 95 3 common
add_result 951 95 0
rows "UPDATE result SET server_state = 4 WHERE id = 951"
delete_files
claim "an input of a job with a failed deletion stays" test -e "$work/down/common"
rows "DELETE FROM workunit WHERE id = 95; DELETE FROM result WHERE id = 951; UPDATE workunit SET file_delete_state = 1 WHERE id = 94"
add_job 96 1 third
figures=$(qmctl transition --now "$now" --json --limit 1 --delete-files 2>"$work/delete.log")
claim "no more in a round than the limit says" counted files_deleted 1
delete_files
claim "the others in the next" counted files_deleted 1

# --- files that submitters brought: held until their time, and by batches that may get jobs
bring() { # ID NAME DELETE_TIME BATCH
    rows "INSERT INTO job_file VALUES ($1, '$2', 1, $3); INSERT INTO batch_file_assoc VALUES ($1, $4)"
    [ "$2" = .. ] || echo input | tee "$work/down/$2" >"$work/down/$2.md5"
}
brought() { rows "SELECT COUNT(*), (SELECT COUNT(*) FROM batch_file_assoc) FROM job_file"; }
rows "SET sql_mode = ''; INSERT INTO batch (id, user_id, state) VALUES (71, 1, 1), (72, 1, 2)"
bring 1 for_later $((now + 1)) 72
bring 2 for_batch 0 71
bring 3 unused $((now - 1)) 72
bring 4 needed 0 72
bring 5 .. 0 72
bring 6 used_up $((now + 1)) 72
add_job 97 0 needed
add_job 98 1 for_later
add_job 99 1 for_batch
delete_files
claim "they outlive their jobs" test -e "$work/down/for_later" -a -e "$work/down/for_batch" -a "$(state_of 'workunit WHERE id > 97')" = 22
claim "what no batch holds goes" not test -e "$work/down/unused" -o -e "$work/down/unused.md5"
claim "with its row" test "$(brought)" = $'4\t4'
claim "but for what a job needs" test -e "$work/down/needed"
rows "UPDATE job_file SET delete_time = 0; UPDATE batch SET state = 2; DELETE FROM workunit WHERE id = 97"
touch "$work/down/for_later"
now=$(date +%s) delete_files
claim "somebody may count on what came of late" test -e "$work/down/for_later" -a -e "$work/down/needed"
delete_files
claim "then all go" test "$(brought)$(find "$work/down" -name 'for_*' -o -name 'used_up*')" = $'0\t0'

# --- a folder that is not there, or is a mount point with nothing mounted
add_result 91 9 1
add_job 92 1 input_92
mv "$uploads" "$uploads.away"
mv "$work/down" "$work/down.away"
delete_files
claim "without the folder nothing is said to be deleted" test "$(rows "SELECT file_delete_state FROM result WHERE id = 91")" = 3
claim "nor the inputs" test "$(rows "SELECT file_delete_state FROM workunit WHERE id = 92")" = 3
rows "UPDATE result SET file_delete_state = 1 WHERE id = 91; UPDATE workunit SET file_delete_state = 1 WHERE id = 92"
mkdir "$uploads" "$uploads/.partial" "$work/down"
delete_files
claim "an empty folder is none either" test "$(rows "SELECT file_delete_state FROM result WHERE id = 91")" = 3
claim "nor an empty one of inputs" test "$(rows "SELECT file_delete_state FROM workunit WHERE id = 92")" = 3
claim "which is said" grep -q "up loads is empty: is it mounted?" "$work/delete.log"
rmdir "$uploads/.partial" "$uploads" "$work/down"
mv "$uploads.away" "$uploads"
mv "$work/down.away" "$work/down"
delete_files
claim "it is tried again" test "$(rows "SELECT MAX(file_delete_state) FROM result")$(rows "SELECT MAX(file_delete_state)
    FROM workunit")" = 22
claim "and done" not test -e "$uploads/out 91" -o -e "$work/down/input_92"

# --- what was uploaded, and never reported: it goes with the answer
due() { rows "UPDATE workunit SET transition_time = $now - 1 WHERE id = 60"; }
add_job 60 0 input_60
add_result 601 60 0
add_result 602 60 0
rows "UPDATE result SET server_state = 4, outcome = 0, validate_state = 0, report_deadline = $now - 1 WHERE id = 602"
add_result 603 60 0
rows "UPDATE result SET outcome = 7, validate_state = 0 WHERE id = 603"
add_result 604 60 0
rows "UPDATE result SET server_state = 4, outcome = 0, validate_state = 0, report_deadline = $now + 5 WHERE id = 604;
    UPDATE workunit SET canonical_resultid = 601 WHERE id = 60"
due
delete_files
claim "while a host may report, no file of an unreported result goes" test -e "$uploads/out 601" -a \
    -e "$uploads/out 602" -a -e "$uploads/out 603" -a -e "$uploads/out 604"
now=$((now + 6)) # the last deadline has passed
due
delete_files
for id in 601 602 603 604; do
    claim "at the end the file of $id goes" not test -e "$uploads/out $id"
done
echo again >"$uploads/out 604" # uploaded late, and then reported
rows "UPDATE result SET outcome = 1, received_time = $now WHERE id = 604"
due
delete_files
claim "a report behind the deletion is too late" test "$(rows "SELECT validate_state FROM result WHERE id = 604")" = 5
claim "and its file goes too" not test -e "$uploads/out 604"

# --- files are not deleted while failed jobs are taken up again
add_job 70 1 input_70
rows "UPDATE workunit SET canonical_resultid = 0, error_mask = 8 WHERE id = 70"
exec 7<"$work/down"
flock -x 7 # as who deletes input files
"$QM_BINARY_DIR/qmctl" --project "$project" jobs retry --name job_70 >"$work/retry.log" 2>&1 7<&- &
retry_pid=$!
started+=("$retry_pid")
is_waiting() { grep -q -- "-> FLOCK .* $retry_pid " /proc/locks; }
claim "who takes up a failed job waits while input files are deleted" within 15 is_waiting
claim "and has not begun" test "$(rows "SELECT file_delete_state FROM workunit WHERE id = 70")" = 1
exec 7<&-
claim "then it goes on" wait "$retry_pid"
claim "and the job needs its file" test "$(rows "SELECT file_delete_state FROM workunit WHERE id = 70")" = 0
rows "DELETE FROM workunit WHERE id = 70"

# --- killed at any moment: what is marked as deleted is gone, and in the end all is
rows "SET sql_mode = ''; INSERT INTO workunit (id, appid, name, file_delete_state, assimilate_state, transition_time,
    canonical_resultid) SELECT seq, 1, CONCAT('many_', seq), 2, 2, 2147483647, seq FROM seq_1001_to_4000; INSERT INTO result
    (id, workunitid, appid, name, server_state, outcome, validate_state, file_delete_state, xml_doc_in) SELECT seq, seq, 1,
    CONCAT('many_', seq), 5, 1, 1, 1, CONCAT('<result><file_ref><file_name>many_', seq,
    '</file_name></file_ref></result>') FROM seq_1001_to_4000"
for ((i = 1001; i <= 4000; i++)); do echo output >"$uploads/many_$i"; done
there() { find "$uploads" -name 'many_*' -printf '%f\n' | sort; }
kills=0 wrong=0
for _ in {1..15}; do
    "$QM_BINARY_DIR/qmctl" --project "$project" transition --now "$now" --delete-files >/dev/null 2>&1 &
    pid=$!
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
    kill -KILL "$pid" 2>/dev/null && kills=$((kills + 1))
    wait "$pid" 2>/dev/null
    rows "SELECT name FROM result WHERE id > 1000 AND file_delete_state = 2" | sort >"$work/marked"
    wrong=$((wrong + $(comm -12 "$work/marked" <(there) | wc -l)))
    rows "UPDATE qm_lease SET valid_until = 0" # a minute goes by
done
say "killed $kills times, $(there | wc -l) files left"
claim "no file is left whose row says that it is deleted" test $wrong = 0
delete_files
claim "in the end none is left" test "$(there | wc -l)" = 0
claim "and the rows say so" test "$(rows "SELECT COUNT(*) FROM result WHERE id > 1000 AND file_delete_state <> 2")" = 0

# --- a folder that becomes empty by it
find "$work/down" -type f -delete
add_job 93 1 input_93
delete_files
claim "the last file of a folder is deleted" test "$(rows "SELECT file_delete_state FROM workunit WHERE id = 93")" = 2
finish
