#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Old finished jobs leave the database for an archive, whole, and only when the archive has them.
# shellcheck disable=SC2317 # claim calls them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

new_project "<daily_result_quota>10</daily_result_quota>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
# Jobs 1 to 200 are finished and old; each has two results, and one was assigned.
rows "SET sql_mode = ''; SET @old = NOW() - INTERVAL 40 DAY;
    INSERT INTO workunit (id, appid, name, xml_doc, file_delete_state, assimilate_state, canonical_resultid,
    rsc_fpops_est, mod_time) SELECT seq, 1, CONCAT('job_', seq), '<workunit>\n<a b=\"c\">&amp;</a>', 2, 2, 10 * seq, 3.6e13, @old
    FROM seq_1_to_200;
    INSERT INTO result (id, workunitid, appid, name, server_state, outcome, file_delete_state, stderr_out, app_version_id,
    elapsed_time, mod_time) SELECT 10 * seq, seq, 1, CONCAT('job_', seq, '_0'), 5, 1, 2, CONCAT('<oops> & ', 0xfc), -2, 3600.5, @old
    FROM seq_1_to_200;
    INSERT INTO result (id, workunitid, appid, name, server_state, outcome, mod_time)
    SELECT 10 * seq + 1, seq, 1, CONCAT('job_', seq, '_1'), 5, 4, @old FROM seq_1_to_200;
    INSERT INTO assignment SET workunitid = 7; INSERT INTO assignment SET workunitid = 999"
# What stays: young, with files, with the answer not taken, with a file of a result still there, still
# computed, marked; of another application.
rows "UPDATE workunit SET mod_time = NOW() WHERE id = 11; UPDATE workunit SET file_delete_state = 1, mod_time = mod_time WHERE id = 12;
    UPDATE workunit SET assimilate_state = 1, mod_time = mod_time WHERE id = 13;
    UPDATE result SET file_delete_state = 3, mod_time = mod_time WHERE id = 140;
    UPDATE result SET server_state = 4, mod_time = mod_time WHERE id = 151;
    UPDATE workunit SET name = 'my_nodelete', mod_time = mod_time WHERE id = 16;
    UPDATE workunit SET appid = 2, mod_time = mod_time WHERE id = 17"
archives=$project/archives
left() { rows "SELECT GROUP_CONCAT(id ORDER BY id) FROM workunit"; }

claim "a limit is kept" test "$(qmctl purge --app work --limit 3 --json)" = '{"jobs": 3, "results": 6}'
claim "an unknown app is refused" not qmctl purge --app none
claim "an archive cannot be there and not" not qmctl purge --archive x --no-archive
claim "where the archive cannot be written" not qmctl purge --archive "$project/config.xml/a"
claim "nothing goes" test "$(rows "SELECT COUNT(*) FROM workunit")" = 197
cp -r "$archives" "$work/first"
claim "the others of the app go" test "$(qmctl purge --app work --json)" = '{"jobs": 190, "results": 380}'
claim "what is not old, not done or not of the app stays" test "$(left)" = 11,12,13,14,15,16,17
claim "with all its results" test "$(rows "SELECT COUNT(*) FROM result")" = 14
claim "assignments go along" test "$(rows "SELECT GROUP_CONCAT(workunitid) FROM assignment")" = 999
claim "a second run finds nothing" test "$(qmctl purge --app work --json)" = '{"jobs": 0, "results": 0}'
claim "and writes nothing" test "$(find "$archives" -type f | wc -l)" = 8
qmctl purge --app work >/dev/null 2>"$work/held"
for words in 'kept: 2 jobs waiting for the deletion of files (qmctl transition --delete-files)' \
    'kept: 1 job changed within --min-age-days' 'kept: 1 job waiting for assimilation' \
    'kept: 1 job with "nodelete" in the name' 'kept: 1 job with results that are not over'; do
    claim "it says: $words" grep -qF "$words" "$work/held"
done
rows "UPDATE workunit SET canonical_resultid = 0, mod_time = mod_time WHERE id = 11"
claim "and of what is not finished" grep -qF 'kept: 1 job not finished' <(qmctl purge --app work 2>&1)
rows "UPDATE workunit SET canonical_resultid = 110, mod_time = mod_time WHERE id = 11"

# --- read back
wu() { cat "$archives"/wu_archive_*.xml; }
results() { cat "$archives"/result_archive_*.xml; }
claim "each job once" test "$(wu | grep -oE '^  <id>[0-9]+' | sort -u | wc -l) $(wu | grep -c '<workunit_archive>')" = "193 193"
claim "each result once" test "$(results | grep -oE '^  <id>[0-9]+' | sort -u | wc -l) $(results | grep -c '</result_archive>')" = "386 386"
claim "documents end once" test "$(wu | grep -c '^</archive>$') $(results | grep -c '^</archive>$')" = "2 2"
claim "reals are exact" grep -qx '  <rsc_fpops_est>3.600000000000000e+13</rsc_fpops_est>' "$archives"/wu_archive_*.xml
claim "texts are escaped" grep -qx '  <stderr_out>&lt;oops&gt; &amp; &#252;</stderr_out>' "$archives"/result_archive_*.xml
claim "documents too" grep -qx '  <xml_doc>&lt;workunit&gt;&#10;&lt;a b="c"&gt;&amp;amp;&lt;/a&gt;</xml_doc>' "$archives"/wu_archive_*.xml
claim "later columns are there" grep -qx '  <elapsed_time>3.600500000000000e+03</elapsed_time>' "$archives"/result_archive_*.xml
claim "an anonymous version is negative" grep -qx '  <app_version_id>-2</app_version_id>' "$archives"/result_archive_*.xml
claim "the index names them" test "$(cat "$archives"/wu_index_*.xml | grep -cE '^[0-9]+ {5}[0-9]+ {4}job_[0-9]+$')" = 193
command -v xmllint >/dev/null && claim "they are well-formed" xmllint --noout "$archives"/*_archive_*.xml

# --- killed at any moment: what is gone is in a whole archive
rows "SET sql_mode = ''; DELETE FROM workunit; DELETE FROM result; INSERT INTO workunit (id, appid, name,
    file_delete_state, error_mask, assimilate_state, mod_time, xml_doc) SELECT seq, 1, CONCAT('w', seq), 2, 16, 2, NOW() - INTERVAL 40 DAY, REPEAT('x', 3000)
    FROM seq_1_to_3000; INSERT INTO result (id, workunitid, name, server_state) SELECT seq, seq, CONCAT('r', seq), 5
    FROM seq_1_to_3000"
kills=0
for _ in $(seq 12); do
    "$QM_BINARY_DIR/qmctl" --project "$project" purge --archive "$work/killed" >/dev/null 2>&1 &
    pid=$!
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -KILL "$pid" 2>/dev/null && kills=$((kills + 1))
    wait "$pid" 2>/dev/null
    rows "UPDATE qm_lease SET valid_until = 0" # a minute goes by
done
say "killed $kills times, $(rows "SELECT COUNT(*) FROM workunit") jobs left"
{
    cat "$work"/killed/wu_archive_*.xml | grep -oE '^  <id>[0-9]+' | grep -oE '[0-9]+'
    rows "SELECT id FROM workunit"
} | sort -nu >"$work/found"
claim "every job is in the archive or in the database" test "$(wc -l <"$work/found")" = 3000
claim "no result is there without its job" test "$(rows "SELECT COUNT(*) FROM result WHERE workunitid NOT IN (SELECT id FROM workunit)")" = 0
qmctl purge --archive "$work/killed" >/dev/null &
claim "two at once" qmctl purge --archive "$work/killed"
wait
claim "nothing is left" test "$(rows "SELECT COUNT(*) FROM workunit")" = 0
rows "SET sql_mode = ''; INSERT INTO workunit SET id = 1, name = 'w', file_delete_state = 2, error_mask = 16, assimilate_state = 2"
claim "it may be done without an archive" qmctl purge --min-age-days 0 --no-archive --yes
claim "and the job is gone" test "$(rows "SELECT COUNT(*) FROM workunit")" = 0
finish
