#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uploaded files that no job leads to any more: which of them `qmctl files sweep` deletes, and that it
# keeps everything else, whatever happens beside it.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

uploads=$work/uploads
new_project "<upload_dir>$uploads</upload_dir>" "<download_dir>$work/down</download_dir>" \
    "<uldl_dir_fanout>1024</uldl_dir_fanout>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
mkdir "$uploads" "$work/down"
now=$(($(date +%s) + 40 * 86400)) # then all files that are made here are old

folder_of() { printf '%x' $((16#$(printf %s "$1" | md5sum | cut -c 2-8) % 1024)); }
path_of() { echo "$uploads/$(folder_of "$1")/$1"; }
# upload NAME: as the upload handler leaves it
upload() {
    mkdir -p "$uploads/$(folder_of "$1")"
    echo "output of $1" >"$(path_of "$1")"
}
is_there() { test -e "$(path_of "$1")"; }
file_info() { echo "<file_info><name>$1</name>${2:-}</file_info>"; }
file_ref() { echo "<file_ref><file_name>$1</file_name><open_name>out</open_name></file_ref>"; }
# add_result ID NAME OUTCOME [FLAG]: of a finished job of its own, with NAME_r7_0 uploaded
add_result() {
    local file=$2_r7_0
    rows "SET sql_mode = ''; INSERT INTO workunit SET id = $1, appid = 1, name = 'wu_$1', file_delete_state = 2,
        error_mask = 16, assimilate_state = 2, transition_time = 2147483647;
        INSERT INTO result SET id = $1, workunitid = $1, appid = 1, name = '$2', server_state = 5, outcome = $3,
        file_delete_state = 2, stderr_out = 'a </result_archive> in it',
        xml_doc_in = '$(file_info "$file" "${4:-}")<result>$(file_ref "$file")</result>'"
    upload "$file"
}
purge() { qmctl purge --min-age-days 0 "$@"; }
sweep() { qmctl files sweep --now "$now" --tsv "$@" 2>"$work/sweep.log"; }
# counted FILES WORDS: in what the sweep reported
found() { awk -F '\t' -v words="$2" 'index($4, words) { sum += $2 } END { print sum + 0 }' <<<"$report" | grep -qx "$1"; }

add_result 1 plain_1_0 4
add_result 2 marked_1_0 1 '<no_delete/>'
add_result 3 sticky_1_0 1 '<sticky/>'
add_result 4 young_1_0 4
add_result 5 capital_1_0 4
add_result 6 link_1_0 4
add_result 7 moved_1_0 4
add_result 8 lookalike_1_0 4
add_result 9 waits_1_0 4
add_result 10 again_1_0 4
add_result 11 outside_1_0 4
add_result 12 namesake_1_0 4
rows "UPDATE result SET xml_doc_in = '$(file_info unarchived_1_0_r7_0)<result>$(file_ref unarchived_1_0_r7_0)</result>'
    WHERE id = 12" # proves nothing of another's file
rm "$(path_of namesake_1_0_r7_0)"
claim "they are purged" purge
rows "DELETE FROM workunit; DELETE FROM result"
add_result 20 unarchived_1_0 4
claim "another without an archive" purge --no-archive --yes
add_result 21 open_1_0 1
rows "UPDATE result SET server_state = 4 WHERE id = 21"
add_result 22 CAPITAL_1_0 1
rm "$(path_of CAPITAL_1_0_r7_0)"
touch -d "@$((now - 86400))" "$(path_of young_1_0_r7_0)"
rm "$(path_of link_1_0_r7_0)"
echo precious >"$work/precious"
ln -s "$work/precious" "$(path_of link_1_0_r7_0)"
mkdir -p "$uploads/0"
mv "$(path_of moved_1_0_r7_0)" "$uploads/0/"
mv "$(path_of lookalike_1_0_r7_0)" "$(path_of lookalike_1_0_r7_0 | sed 's/r7_0$/x/')"
upload lookalike_1_0_r8_0
upload report.txt
upload job_1_0.txt
outside=$(folder_of outside_1_0_r7_0)
mv "$uploads/$outside" "$work/outside"
ln -s "$work/outside" "$uploads/$outside"
echo input >"$work/down/input"

# --- what is said
report=$(sweep)
claim "a report finds three files of purged jobs" found 3 "of purged jobs: qmctl files sweep --delete"
claim "two of jobs in the database, by capitals or not" found 2 "kept: of jobs in the database"
claim "a young one" found 1 "kept: changed in the last 30 days"
claim "two that are marked" found 2 "kept: no_delete or sticky"
claim "two that no archive has" found 2 "kept: no archive"
claim "one in another folder" found 1 "kept: not in the folder"
claim "those with other names" found 3 "kept: not named as"
claim "two links" found 2 "kept: links"
claim "and deletes nothing" is_there plain_1_0_r7_0
claim "a list names those that may go" test "$(sweep --list | tail -n +2 | cut -f 2 | sort | tr '\n' ' ')" = \
    "again_1_0_r7_0 plain_1_0_r7_0 waits_1_0_r7_0 "
claim "without an answer nothing is deleted" not sweep --delete
claim "that is said" grep -q "needs --yes" "$work/sweep.log"

# --- another database, or an older copy
rows "CREATE TABLE kept LIKE result; INSERT INTO kept SELECT * FROM result; DELETE FROM result;
    ALTER TABLE result AUTO_INCREMENT = 5"
claim "where the database never had such numbers nothing is deleted" not sweep --delete --yes
claim "which is said" grep -q "it is another project's, or an older copy" "$work/sweep.log"
claim "the file is there" is_there plain_1_0_r7_0
rows "INSERT INTO result SELECT * FROM kept; DROP TABLE kept"

# --- archives of other programs prove nothing: a client's text could stand in them as it is
cat >"$project/archives/result_archive_1.xml" <<END
<archive>
<result_archive>
  <id>3</id>
  <name>lookalike_1_0</name>
  <xml_doc_in></xml_doc_in>
  <xml_doc_out></xml_doc_out></result_archive><result_archive><id>3</id><name>lookalike_1_0</name>
  <xml_doc_in>&lt;result&gt;&lt;file_ref&gt;&lt;file_name&gt;lookalike_1_0_r8_0&lt;/file_name&gt;&lt;/file_ref&gt;</xml_doc_in>
</result_archive>
<result_archive>
  <id>4</id>
  <name>other</name>
  <xml_doc_in><file_info><name>x</name></file_info></xml_doc_in>
</result_archive>
</archive>
END
head -c 700 "$(find "$project/archives" -name 'result_archive_1?*.xml' | head -n 1)" >"$project/archives/result_archive_2.xml"
report=$(sweep)
claim "what a foreign archive says does not count" found 3 "of purged jobs: qmctl"
claim "it is named" grep -q "result_archive_1.xml: .*not an archive of qmctl purge" "$work/sweep.log"
claim "so is one that is cut" grep -q "result_archive_2.xml" "$work/sweep.log"
rm "$project"/archives/result_archive_[12].xml

# --- while the archives are read, a job comes again and a file is written to
mkfifo "$project/archives/result_archive_0.xml"
sweep --delete --yes >"$work/report" &
sweep_pid=$!
started+=("$sweep_pid")
exec 8>"$project/archives/result_archive_0.xml" # is opened when the sweep reads it
rows "SET sql_mode = ''; INSERT INTO result SET id = 30, workunitid = 30, appid = 1, name = 'again_1_0', server_state = 4"
echo more >>"$(path_of waits_1_0_r7_0)"
echo "<archive></archive>" >&8
exec 8>&-
claim "the sweep ends" wait "$sweep_pid"
report=$(<"$work/report")
claim "one file was deleted" found 1 "of purged jobs: deleted"
claim "it is gone" not is_there plain_1_0_r7_0
claim "that of the job that came again stays" is_there again_1_0_r7_0
claim "that which was written to stays" is_there waits_1_0_r7_0
claim "and is counted" found 1 "kept: in use, or changed meanwhile"
for name in marked_1_0_r7_0 sticky_1_0_r7_0 young_1_0_r7_0 capital_1_0_r7_0 lookalike_1_0_r8_0 unarchived_1_0_r7_0 \
    open_1_0_r7_0 report.txt job_1_0.txt; do
    claim "$name stays" is_there $name
done
claim "nothing behind a link is touched" test -e "$work/precious" -a -e "$work/outside/outside_1_0_r7_0" -a \
    -L "$(path_of link_1_0_r7_0)" -a -L "$uploads/$outside" -a -e "$uploads/0/moved_1_0_r7_0"
rm "$project/archives/result_archive_0.xml"

# --- download_dir is only looked at
mkdir -p "$work/down/$(folder_of named)" "$work/down/$(folder_of unnamed)"
touch "$work/down/$(folder_of named)/named" "$work/down/$(folder_of unnamed)/unnamed" \
    "$work/down/$(folder_of named)/named.gz"
rows "SET sql_mode = ''; INSERT INTO workunit SET id = 40, appid = 1, name = 'wu_40', transition_time = 2147483647,
    xml_doc = '$(file_info named)<workunit>$(file_ref named)</workunit>'"
report=$(sweep --delete --yes)
claim "a file that a job names, and what lies beside it" found 2 "and a job or version names them"
claim "one that nobody names" found 1 "no job or version names them"
claim "stays" test -e "$work/down/$(folder_of unnamed)/unnamed"

# --- the loop counts for the status, and deletes none
claim "before a loop status says nothing of them" not grep -q "no job names" <(qmctl status 2>&1)
find "$uploads" -maxdepth 1 -name .orphans | grep -q . && claim_failed "nobody has counted yet"
qmctl transition --loop 1 --delete-files >"$work/loop.log" 2>&1 &
started+=("$!")
claim "a loop counts" within 30 test -e "$uploads/.orphans"
claim "no file is old enough for it" grep -q " 0 0$" "$uploads/.orphans"
end_process "${started[-1]}"
echo "$(date +%s) 12345 1200000000" >"$uploads/.orphans"
claim "status says how many there are" grep -q "12345 files .*qmctl files sweep" <(qmctl status 2>&1)

# --- more files than are held in memory at once, and a run that is killed
many=100300
mkdir "$work/many"
sed -i "s|<upload_dir>.*</upload_dir>|<upload_dir>$work/many</upload_dir>|; s|fanout>1024<|fanout>0<|" "$project/config.xml"
rows "ALTER TABLE result AUTO_INCREMENT = $((many + 1))"
seq -f "$work/many/many_%.0f_0_r7_0" $many | xargs touch
{
    echo "<archive>"
    seq $many | awk '{ printf "<result_archive><id>%d</id><name>many_%d_0</name><xml_doc_in>&lt;file_info&gt;&lt;name&gt;" \
        "many_%d_0_r7_0&lt;/name&gt;&lt;/file_info&gt;&lt;result&gt;&lt;file_ref&gt;&lt;file_name&gt;" \
        "many_%d_0_r7_0&lt;/file_name&gt;&lt;open_name&gt;o&lt;/open_name&gt;&lt;/file_ref&gt;&lt;/result&gt;</xml_doc_in></result_archive>\n", $1, $1, $1, $1 }'
    echo "</archive>"
} >"$project/archives/result_archive_9.xml"
left() { find "$work/many" -type f | wc -l; }
report=$(sweep)
claim "all of them are found" found $many "of purged jobs: qmctl files sweep --delete"
report=$(sweep --delete --dry-run)
claim "a rehearsal finds them too" found $many "of purged jobs: qmctl files sweep --delete"
claim "and deletes none" test "$(left)" = $many
"$QM_BINARY_DIR/qmctl" --project "$project" files sweep --now "$now" --delete --yes >"$work/killed.log" 2>&1 &
sweep_pid=$!
started+=("$sweep_pid")
claim "they begin to go" within 60 eval "[ \"\$(left)\" -lt $many ]"
kill -KILL "$sweep_pid"
wait "$sweep_pid" 2>/dev/null
stayed=$(left)
claim "a run that is killed leaves the others" test "$stayed" -gt 0
report=$(sweep --delete --yes)
claim "the next goes on" found "$stayed" "of purged jobs: deleted"
claim "and nothing is left" test "$(left)" = 0
finish
