#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real client keeps the large file of a job that it has computed, because the file is sticky. Then
# its user allows it so little disk space that the next job fits only without that file: the server
# orders it deleted and sends the job, in one reply; the client deletes, fetches and computes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_client.sh
. "$(dirname "$0")/lib_client.sh"

file_bytes=60000000
bound=50000000 # disk space of the second job
left=20000000  # what the user leaves
demo=$QM_SOURCE_DIR/tools/demo
files_schema=${schema}_files

# Says how long its input is; but a client looks at its tasks once in a second, and what ends sooner
# was nothing to it.
cat >"$work/app" <<'APP'
#!/bin/sh
input=$(sed -n 's|.*<soft_link>\(.*\)</soft_link>.*|\1|p' in)
sleep 2
wc -c <"$input" >>stderr.txt
echo 0 >boinc_finish_called
APP
chmod 755 "$work/app"
client_project "$work/app" "<delete_from_self>1</delete_from_self>" \
    "<files_db_name>$files_schema</files_db_name>"
in_project --project "$project" files init

# new_job NAME FILE [ELEMENT]: with that element in the file's <file_info>.
new_job() {
    sed "s|<rsc_disk_bound>.*</|<rsc_disk_bound>$bound</|; s|</file_info>|${3:-}&|" \
        "$demo/in.xml" >"$work/$1.in.xml"
    in_project --project "$project" jobs create --app demo --in "$work/$1.in.xml" \
        --out "$QM_SOURCE_DIR/templates/none_out.xml" --wu_name "$1" "$2"
}
# shellcheck disable=SC2317 # called by within
is_over() {
    test "$(rows "SELECT COUNT(*) FROM result WHERE name = '$1_0' AND server_state = 5
        AND outcome = 1 AND exit_status = 0")" = 1
}
orders() { sql -e "SELECT COUNT(*) FROM $files_schema.file_order WHERE action = 3 AND ended = 0"; }
listed() { sql -e "SELECT COUNT(*) FROM $files_schema.host_file WHERE name = 'genome_1'
    AND first_seen > 0"; }
# shellcheck disable=SC2317
file_is_gone() { [ "$(held)" -eq 0 ]; }
held() { find "$client/projects" -name genome_1 -size +50M | wc -l; }

head -c $file_bytes /dev/zero >"$work/genome_1"
head -c 1000 /dev/zero >"$work/small_1"
new_job first "$work/genome_1" "<sticky/>"
start_client --cpus 1
claim "the first job is computed" within 60 is_over first
update_client
claim "its file stays on the client" test "$(held)" -eq 1
claim "the client says so" grep -q '<name>genome_1</name>' "$last_request"
claim "the file database knows" test "$(listed)" -eq 1
used=$(asked d_boinc_used_total)
say "the client uses $used bytes"

# What the user allows: as much as is used, and less than the next job needs.
most=$(awk "BEGIN { printf \"%.6f\", ($used + $left) / 2^30 }")
sed -i "s|<disk_max_used_gb>.*</|<disk_max_used_gb>$most</|" "$client/global_prefs_override.xml"
control --read_global_prefs_override
new_job second "$work/small_1"
for _ in 1 2 3; do # a server sees new jobs within about a second
    update_client || break
    ! grep -q '<result>' "$last_reply" || break
done
claim "the server sends the job in its third pass, and orders a deletion in the same reply" \
    log_has server ' sent=1 .* disk_pass=3 deletions=1 '
claim "the reply names the file" \
    grep -q '<delete_file_info>genome_1</delete_file_info>' "$last_reply"
claim "the order stands until it is done" test "$(orders)" -eq 1
claim "the client deletes the file" within 20 file_is_gone
claim "the second job is computed" within 60 is_over second
claim "with its own file" test "$(rows "SELECT COUNT(*) FROM result WHERE name = 'second_0'
    AND stderr_out LIKE '%\n1000\n%'")" = 1
update_client
claim "the client lists it no more" not grep -q '<name>genome_1</name>' "$last_request"
claim "the file database has forgotten it" test "$(listed)" -eq 0
claim "and the order is over" test "$(orders)" -eq 0
claim "the client aborted nothing" test "$(said 'Aborting\|exceeded')" -eq 0
claim "nothing failed in the server" not grep -q 'level=\(critical\|error\)' "$work/server.log"
finish
