#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several loops share one project: each job is done by one of them. A killed one's jobs go on when its
# lease has run out; one that was stopped for longer than its lease writes nothing any more.
# shellcheck disable=SC2317 # claim and within call them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
now=1800000000

new_project "<upload_dir>$work/uploads</upload_dir>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
mkdir "$work/uploads"
touch "$work/uploads/another"

# finished FIRST LAST: jobs that are to be given on, and no others; nobody has called for any.
add_finished() { # FIRST LAST APP
    rows "SET sql_mode = ''; INSERT INTO workunit (id, appid, name, error_mask, assimilate_state, transition_time,
        delay_bound) SELECT seq, $3, CONCAT('job_', seq), 2, 1, 2147483647, 86400 FROM seq_$1_to_$2"
}
finished() {
    rows "DELETE FROM workunit; DELETE FROM result"
    add_finished "$1" "$2" 1
    rm -rf "$work/callers" "$work/calls" "$work/hold" "$work/held"
    mkdir "$work/callers"
    touch "$work/calls"
}
# Writes down who called for which job; the first call of each loop waits until all have called, so
# that none of them has done everything before the others began. Holds a job that is to be held.
cat >"$work/take" <<'SH'
#!/bin/bash
here=${0%/*}
read -r _ _ _ caller _ <"/proc/$PPID/stat" # PPID is the shell between them
echo "$QM_JOB_ID $caller" >>"$here/calls"
: >"$here/callers/$caller"
for ((i = 0; i < 600; i++)); do
    [ "$(ls "$here/callers" | wc -l)" -lt "$(cat "$here/loops")" ] || break
    sleep 0.1
done
if [ "$QM_JOB_ID" = "$(cat "$here/hold" 2>/dev/null)" ]; then
    : >"$here/held"
    while [ -e "$here/hold" ]; do sleep 0.1; done
fi
exit 0
SH
chmod +x "$work/take"
left() { rows "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 1"; }
# Answers of commands are written some together, after a moment.
two_are_marked() { [ "$(rows "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2")" = 2 ]; }
none_left() { [ "$(left)" = 0 ]; }
time_goes_by() { rows "UPDATE qm_lease SET valid_until = UNIX_TIMESTAMP() WHERE token <> 0"; }
start_loops() { # COUNT
    local i
    loops=()
    echo "$1" >"$work/loops"
    for ((i = 1; i <= $1; i++)); do
        "$QM_BINARY_DIR/qmctl" --project "$project" transition --loop 1 --assimilate "'$work/take'" >"$work/loop$i.log" 2>&1 &
        loops+=($!)
        started+=($!)
    done
}
end_loops() { for pid in "${loops[@]}"; do end_process "$pid"; done; }

# --- two commands that take long: the lease of one is renewed meanwhile, that of the other is lost before it
# would be (both are looked at in the end)
rows "SET sql_mode = ''; INSERT INTO app SET id = 2, name = 'slow', user_friendly_name = 'Slow';
    INSERT INTO app SET id = 3, name = 'lost', user_friendly_name = 'Lost'"
cat >"$work/slow" <<'SH'
#!/bin/bash
while [ ! -e "${0%/*}/enough" ]; do sleep 0.1; done
SH
cat >"$work/lost" <<'SH'
#!/bin/bash
echo "$QM_JOB_ID" >>"${0%/*}/lost_calls"
while [ ! -e "${0%/*}/enough" ]; do sleep 0.1; done
exit 1 # then nothing is to be marked, which would be refused, before the next is begun
SH
chmod +x "$work/slow" "$work/lost"
finished 101 102
rows "UPDATE workunit SET appid = 3"
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now $now --assimilate "'$work/lost'" >"$work/lost.log" 2>&1 &
lost_pid=$!
started+=("$lost_pid")
claim "another has its job, too" within 20 test -s "$work/lost_calls"
rows "UPDATE qm_lease SET token = 7, valid_until = UNIX_TIMESTAMP() + 110 WHERE appid = 3 AND token <> 0"
add_finished 1 1 2
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now $now --json --assimilate "'$work/slow'" >"$work/slow.json" 2>&1 &
slow_pid=$!
started+=("$slow_pid")
of_slow="FROM qm_lease WHERE pass = 'assimilation' AND appid = 2 AND token <> 0"
slow_holds() { [ "$(rows "SELECT COUNT(*) $of_slow")" = 1 ]; }
claim "a slow command has its job" within 20 slow_holds

# --- three loops
add_finished 2 60 1
start_loops 3
only_slow_left() { [ "$(left)" = 3 ]; }
claim "three loops give on all that is finished" within 120 only_slow_left
end_loops
claim "each job once" test "$(cut -d' ' -f1 "$work/calls" | sort | uniq -d | wc -l)/$(wc -l <"$work/calls")" = 0/59
claim "all three of them" test "$(cut -d' ' -f2 "$work/calls" | sort -u | wc -l)" = 3
say "calls of each: $(cut -d' ' -f2 "$work/calls" | sort | uniq -c | awk '{ printf "%s ", $1 }')"

is_renewed() { [ "$(rows "SELECT COUNT(*) $of_slow AND changes > 0 AND valid_until > UNIX_TIMESTAMP()")" = 1 ]; }
claim "the slow one's lease is renewed" within 60 is_renewed
touch "$work/enough"
wait "$slow_pid"
claim "and its job is marked" grep -q '"assimilated": 1,' "$work/slow.json"
wait "$lost_pid"
claim "who has lost his lease begins no other job" test "$(cat "$work/lost_calls")" = 101
rows "DELETE FROM qm_lease WHERE token = 7"
claim "nothing is held in the end" test "$(rows "SELECT COUNT(*) FROM qm_lease WHERE token <> 0")" = 0

# --- one is killed
echo 1 >"$work/loops"
finished 1 20
echo 3 >"$work/hold"
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now $now --assimilate "'$work/take'" >"$work/killed.log" 2>&1 &
killed_pid=$!
claim "one has begun" within 20 test -e "$work/held"
claim "what was done before is marked" within 20 two_are_marked
kill -KILL "$killed_pid"
wait "$killed_pid" 2>/dev/null
rm "$work/hold"
qmctl transition --now $now --assimilate "'$work/take'" >"$work/other.log" 2>&1
claim "what it had is left alone while its lease is valid" test "$(rows "SELECT GROUP_CONCAT(id ORDER BY id) FROM workunit
    WHERE assimilate_state = 1")" = 3,4,5,6,7,8
time_goes_by
qmctl transition --now $now --assimilate "'$work/take'" >"$work/other.log" 2>&1
claim "and done then" none_left
claim "only what it was at comes twice" test "$(cut -d' ' -f1 "$work/calls" | sort -n | uniq -d)" = 3

# --- one is ended by a signal: it gives back what it had
for signal in TERM HUP; do
    finished 1 5
    echo 3 >"$work/hold"
    "$QM_BINARY_DIR/qmctl" --project "$project" transition --loop 1 --assimilate "'$work/take'" >"$work/ended.log" 2>&1 &
    ended_pid=$!
    started+=("$ended_pid")
    claim "$signal: one has begun" within 20 test -e "$work/held"
    kill -$signal "$ended_pid"
    rm "$work/hold"
    wait "$ended_pid"
    claim "$signal: it ends by the signal" test $? -eq $((128 + $(kill -l $signal)))
    claim "$signal: and holds nothing" test "$(rows "SELECT COUNT(*) FROM qm_lease WHERE token <> 0")" = 0
    claim "$signal: no job is blamed for it" not grep -q 'tried again' "$work/ended.log"
    qmctl transition --now $now --assimilate "'$work/take'" >"$work/other.log" 2>&1
    claim "$signal: others go on at once" none_left
done

# --- one is stopped for longer than its lease
finished 1 20
echo 3 >"$work/hold"
"$QM_BINARY_DIR/qmctl" --project "$project" transition --now $now --json --assimilate "'$work/take'" >"$work/stopped.json" 2>&1 &
stopped_pid=$!
claim "another has begun" within 20 test -e "$work/held"
claim "what it did before is marked" within 20 two_are_marked
kill -STOP "$stopped_pid"
rm "$work/hold"
time_goes_by
qmctl transition --now $now --assimilate "'$work/take'" >"$work/other.log" 2>&1
claim "others do what it had" none_left
rows "UPDATE workunit SET assimilate_state = 1, transition_time = 2147483647 WHERE id = 3" # whoever writes would be seen
rows "UPDATE workunit SET assimilate_state = 3 WHERE id <> 3"
: >"$work/calls"
rows "INSERT INTO qm_lease SET pass = 'assimilation', appid = 1, token = 7, first_id = 1, last_id = 20,
    valid_until = UNIX_TIMESTAMP() + 60, changes = 0" # so that it does not take it once more
kill -CONT "$stopped_pid"
wait "$stopped_pid"
claim "it ends well" test $? -eq 0
claim "and writes nothing" test "$(rows "SELECT assimilate_state FROM workunit WHERE id = 3")" = 1
claim "nor begins another job" test ! -s "$work/calls"
claim "nor says that it did it" grep -q '"assimilated": 2,' "$work/stopped.json"
rows "DELETE FROM qm_lease"

# --- a clock that was set back: a lease that is valid for longer than any is nobody's
finished 1 3
rows "INSERT INTO qm_lease SET pass = 'assimilation', appid = 1, token = 7, first_id = 1, last_id = 20,
    valid_until = UNIX_TIMESTAMP() + 7200, changes = 0"
qmctl transition --now $now --assimilate "'$work/take'" >"$work/other.log" 2>&1
claim "a lease of a clock that was ahead keeps nobody waiting" none_left

# --- the second taking is refused once, when it has given back what was held: nothing of that stays
finished 1 12
sql "$schema" <<'SQL'
CREATE TABLE takings (n INT) ENGINE=MyISAM; -- what is undone stays counted
DELIMITER //
CREATE TRIGGER refuse BEFORE INSERT ON qm_lease FOR EACH ROW IF NEW.token <> 0 THEN
    INSERT INTO takings VALUES (1);
    IF (SELECT COUNT(*) FROM takings) = 2 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF;
END IF//
SQL
qmctl transition --now $now --assimilate "'$work/take'" >"$work/refused.log" 2>&1
claim "what was refused is tried again" test "$(left)/$(rows "SELECT COUNT(*) FROM takings")" = 0/3
claim "and the former lease is gone, too" test "$(rows "SELECT COUNT(*) FROM qm_lease WHERE token <> 0")" = 0
rows "DROP TRIGGER refuse; DROP TABLE takings"

# --- the other passes: what is somebody's is not touched, and is done when it is nobody's
rows "SET sql_mode = ''; DELETE FROM workunit; INSERT INTO workunit (id, appid, name, need_validate, min_quorum,
    target_nresults, max_total_results, max_success_results, transition_time, rsc_fpops_est, delay_bound)
    SELECT seq, 1, CONCAT('job_', seq), 1, 1, 1, 9, 9, 2147483647, 1e12, 86400 FROM seq_1_to_4;
    INSERT INTO result (id, workunitid, appid, hostid, name, server_state, outcome)
    SELECT seq, seq, 1, 1, CONCAT('result_', seq), 5, 1 FROM seq_1_to_4"
held_by_another() { # PASS APP
    rows "DELETE FROM qm_lease; INSERT INTO qm_lease SET pass = '$1', appid = $2, token = 7, first_id = 2, last_id = 3,
        valid_until = UNIX_TIMESTAMP() + 60, changes = 0"
}
done_by() { rows "SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') FROM $1"; }
# shares PASS APP TABLE-AND-CONDITION COMMAND...: it does 1 and 4, then 2 and 3 too.
shares() {
    local pass=$1 app=$2 done=$3 first
    shift 3
    held_by_another "$pass" "$app"
    "$@" >"$work/$pass.log" 2>&1
    first=$(done_by "$done")
    time_goes_by
    "$@" >>"$work/$pass.log" 2>&1
    if [ "$first" != 1,4 ] || [ "$(done_by "$done")" != 1,2,3,4 ]; then
        say "$pass: $first, then $(done_by "$done")"
        return 1
    fi
}
claim "validation" shares validation 1 "workunit WHERE canonical_resultid <> 0" qmctl transition --now $now --trust
rows "UPDATE workunit SET transition_time = $((now - 1)), assimilate_state = 2"
claim "transitions" shares transition 0 "workunit WHERE file_delete_state = 1" qmctl transition --now $now
claim "files of results" shares outputs 0 "result WHERE file_delete_state = 2" qmctl transition --now $now --delete-files
rows "DELETE FROM qm_lease; INSERT INTO qm_lease SET pass = 'inputs', appid = 0, token = 7, first_id = 0, last_id = 9,
    valid_until = UNIX_TIMESTAMP() + 60, changes = 0; UPDATE workunit SET file_delete_state = 1"
write_config "<upload_dir>$work/uploads</upload_dir>" "<download_dir>$work/uploads</download_dir>"
qmctl transition --now $now --delete-files >"$work/inputs.log" 2>&1
claim "input files are one worker's" test "$(done_by "workunit WHERE file_delete_state = 2")" = ""
time_goes_by
qmctl transition --now $now --delete-files >"$work/inputs.log" 2>&1
claim "and another's then" test "$(done_by "workunit WHERE file_delete_state = 2")" = 1,2,3,4
rows "UPDATE workunit SET mod_time = NOW() - INTERVAL 40 DAY"
held_by_another purge 0
qmctl purge --no-archive --yes >"$work/purge.log" 2>&1
claim "purge leaves what is another's" test "$(done_by workunit)" = 2,3
time_goes_by
qmctl purge --no-archive --yes >"$work/purge.log" 2>&1
claim "and takes it then" test "$(done_by workunit)" = ""
finish
