#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A running project of BOINC's, of four years' tables, moves over and back: qmctl adopt looks and changes
# nothing, --apply changes what it said, a second look finds nothing to change, a client gets a job and
# more time for it, and BOINC's programs can write and read as they did.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/integration/lib_boinc.sh
. "$(dirname "$0")/lib_boinc.sh"
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
cp "$QM_BINARY_DIR/quartermaster" "$program"

adopt() { "$QM_BINARY_DIR/qmctl" adopt "$@"; }
# expect STATUS PATTERN COMMAND...: exit status, and an extended pattern in what it says.
expect() {
    local wanted=$1 pattern=$2 got
    shift 2
    "$@" >"$work/said" 2>&1 </dev/null
    got=$?
    [ "$got" -eq "$wanted" ] && grep -qE -- "$pattern" "$work/said" && say "ok: $* says $pattern" && return
    claim_failed "$* (exit status $got, wanted $wanted; wanted: $pattern)"
    head -n 40 "$work/said"
}
# found LEVEL TOPIC PATTERN: a line of that level and topic in what was said last as JSON, and a pattern in it.
found() {
    grep "^{\"level\": \"$1\", \"topic\": \"$2\", " "$work/said" | grep -qE -- "$3" && return
    claim_failed "$schema: $1 of $2: $3"
    cat "$work/said"
}
# shellcheck disable=SC2016 # a database's quotes
ours='KEY `\(qm_result_host_state\|ind_res_st\)`'
of_before() { awk 'NR == FNR { if (/CREATE TABLE/) was[$0]; next } /CREATE TABLE/ { is = $0 in was } is' "$work/tables.before" -; }
others() { sed 's/,$//' | grep -v "$ours"; }
everything() { { tables_of "$schema"; sql -e "CHECKSUM TABLE $schema.app, $schema.host, $schema.platform"; find "$project" -type f -exec md5sum {} +; } | sort; }
# shellcheck disable=SC2094 # it is only read
cgi() {
    QM_PROJECT=$project REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$1") "$program" <"$1" 2>"$work/cgi.log"
}

for year in 2010 2012 2018 today; do
    schema=qm_integration_$$_$year
    project=$work/$year
    boinc_tables "$schema" "$year"
    boinc_folder "$project" "$schema"
    rows "INSERT INTO platform SET create_time = 1, name = 'x86_64-pc-linux-gnu', user_friendly_name = 'Linux'"
    fill_project
    add_jobs 3
    lost=
    if [ "$year" = 2010 ]; then
        lost="ind_res_st"
        rows "ALTER TABLE result DROP KEY ind_res_st; INSERT INTO msg_from_host VALUES (0, 1, 1, 'x', 0, '')"
    fi
    boinc_writes "$schema" >"$work/writes.$year"
    everything >"$work/before"
    tables_of "$schema" >"$work/tables.before"

    # --- the look
    expect 3 '^[0-9]+ errors, ' adopt "$project"
    expect 3 '"topic": "upgrade"' adopt "$project" --json
    claim "$year: nothing has changed" cmp "$work/before" <(everything)
    found warning programs 'feeder must be stopped at the switch'
    found ok programs 'daemon transitioner keeps running'
    found ok programs 'task antique_file_deleter is disabled'
    found ok programs 'task update_profile_pages.php keeps running'
    found note programs 'show_shmem no longer serves a purpose'
    found note programs 'heaven_maker is unknown'
    found note options 'feeder_query_size is not read'
    found change options 'scheduler_url http://127.0.0.1/test_cgi/cgi is added'
    found note options 'a host begins with 9 jobs a day and processor'
    found change upgrade 'table qm_host, table qm_workunit'
    found note clients 'come again after 3600 s'
    found ok project 'db_revision.*22000'
    found ok project 'log_host1'
    case $year in
    2010)
        found change indexes 'result.ind_res_st.*BOINC.s feeder names it too'
        found note columns 'workunit.transitioner_flags.*January 2012'
        found note columns 'app.homogeneous_app_version.*June 2011'
        found warning clients 'trickles'
        ;;
    2012) found note columns 'workunit.size_class.*April 2013' ;;
    2018) found note columns 'host.misc.*November 2025' ;;
    today) found ok columns 'all exist' ;;
    esac
    [ -n "$lost" ] || found ok indexes 'all required indexes exist'
    claim "$year: no error is found" not grep '^{"level": "error"' "$work/said"

    # --- the changes, with a question first
    expect 2 'without a terminal to ask at it needs --yes' adopt "$project" --apply
    claim "$year: and nothing has changed still" cmp "$work/before" <(everything)
    expect 0 'done: .*table qm_host, table qm_workunit' adopt "$project" --apply --yes
    claim "$year: the option is in its place" grep -qxF '        <scheduler_url>http://127.0.0.1/test_cgi/cgi</scheduler_url>' "$project/config.xml"
    claim "$year: one line has been added" test "$(wc -l <"$project/config.xml")" = "$(($(wc -l < <(boinc_folder "$work/again" "$schema" && cat "$work/again/config.xml")) + 1))"
    expect 0 'nothing to change' adopt "$project"
    expect 0 'nothing to change' adopt "$project" --apply
    tables_of "$schema" >"$work/tables.after"
    claim "$year: BOINC's tables of batches are there" test "$(grep -cE 'CREATE TABLE .(batch|user_submit|user_submit_app|job_file|batch_file_assoc). ' "$work/tables.after")" = 5
    claim "$year: of the project's tables nothing that was there has changed but for indexes that were added" \
        cmp <(others <"$work/tables.before") <(of_before <"$work/tables.after" | others)
    claim "$year: the indexes are there" test "$(grep -c "$ours" "$work/tables.after")" = 2

    # --- a client gets a job and reports it
    sed "s|<hostid>.*</hostid>|<hostid>0</hostid>|" "$QM_SOURCE_DIR/tests/captures/021-attach-with-work.xml" >"$work/ask.xml"
    cgi "$work/ask.xml" >"$work/reply"
    claim "$year: a client gets a job" grep -q '<name>job_1_0</name>' "$work/reply"
    [ "$(rows "SELECT server_state FROM result WHERE id = 1")" = 4 ] || claim_failed "$year: it is in progress"

    # --- in tables that were BOINC's until now a job under way gets more time, and availability is learned
    sed -i 's|<scheduler_url>.*|&<extend_deadlines>1</extend_deadlines><learn_availability>1</learn_availability>|' "$project/config.xml"
    rows "UPDATE result SET report_deadline = sent_time + 3600 WHERE id = 1; UPDATE workunit SET delay_bound = 86400, transition_time = 7 WHERE id = 1"
    awk -v host="$(rows "SELECT hostid FROM result WHERE id = 1")" -v due="$(rows "SELECT report_deadline FROM result WHERE id = 1")" '
        /<hostid>/ { print "<hostid>" host "</hostid>"; next }
        /<rpc_seqno>/ { print "<rpc_seqno>9</rpc_seqno>"; next }
        /<work_req_seconds>|<cpu_req_secs>/ { sub(/1[.]0*/, "0") }
        /<other_results>/ {
            print "<in_progress_results><ip_result><name>job_1_0</name><report_deadline>" due "</report_deadline>"
            print "<time_remaining>36000</time_remaining><avg_ncpus>1</avg_ncpus></ip_result></in_progress_results>"
            print "<other_results><other_result><name>job_1_0</name></other_result>"
            next
        }
        { print }' "$work/ask.xml" >"$work/late.xml"
    cgi "$work/late.xml" >"$work/reply"
    claim "$year: the deadline moves by 6.5 h" test "$(rows "SELECT report_deadline - sent_time FROM result WHERE id = 1")" = 27000
    claim "$year: its transition stays" test "$(rows "SELECT transition_time FROM workunit WHERE id = 1")" = 7
    claim "$year: the host is to come again before it" grep -q '<next_rpc_delay>' "$work/reply"
    claim "$year: an observation is begun" test "$(rows "SELECT LENGTH(presence) FROM qm_host WHERE hostid > 0")" = 24

    # --- and back: BOINC writes and reads as before
    claim "$year: BOINC's programs write" sql "$schema" <"$work/writes.$year"
    claim "$year: the rows are there" test "$(rows "SELECT COUNT(*) FROM result WHERE name = 'written_by_position' AND server_state = 5")" = 1
    claim "$year: BOINC's feeder reads" test "$(boinc_reads "$schema" | wc -l)" = "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 2")"
    claim "$year: with the columns where they were" \
        test "$(boinc_reads "$schema" | head -n 1 | awk -F '\t' '{ print NF }')" = \
        "$((4 + $(sql -e "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '$schema' AND TABLE_NAME = 'workunit'")))"
done

# --- an index that went later; the owner of the folder, who is not whoever adopts it
rows "ALTER TABLE result DROP KEY ind_res_st"
sed -i '/scheduler_url/d' "$project/config.xml"
mkdir "$project/upload/1a"
chmod 640 "$project/config.xml"
[ "$(id -u)" != 0 ] || chown -R nobody "$project" || exit 1
[ "$(id -u)" != 0 ] || chown root "$project/upload/1a" "$project/keys" "$project/keys/upload_private" || exit 1
chmod 700 "$project/keys"
expect 3 '^change +indexes +result.ind_res_st ' adopt "$project"
claim "beside our tables it is no error yet" not grep '^error' "$work/said"
if [ "$(id -u)" = 0 ]; then
    claim "folders of uploads that are somebody else's" grep -qE '^warning +rights +upload +1 of its folders, the first being 1a,' "$work/said"
    claim "a key that is" grep -qE '^warning +rights +keys .*/keys/upload_private cannot be read by nobody' "$work/said"
    claim "keys that are" grep -qE '^warning +rights +keys .*cannot be read by nobody' "$work/said"
fi
asked() { # ANSWER: at a terminal
    script -qec "$(printf '%q ' "$QM_BINARY_DIR/qmctl" adopt "$project" --apply)" /dev/null <<<"$1"
}
expect 1 'indexes result.ind_res_st: .*will be made' asked no
claim "another word than apply changes nothing" grep -q 'This changes a running project. Type apply to go on: nothing was done' <(tr -d '\r\n' <"$work/said")
expect 3 '^change +indexes +result.ind_res_st ' adopt "$project"
owner=$(stat -c '%U %G %a' "$project/config.xml")
adopt "$project" --apply --yes >"$work/said.one" 2>&1 &
expect 0 'nothing to change' adopt "$project" --apply --yes
wait $!
claim "two at once: both end well" test $? = 0
claim "config.xml keeps its owner and mode" test "$(stat -c '%U %G %a' "$project/config.xml")" = "$owner"
claim "and has the option once" test "$(grep -c scheduler_url "$project/config.xml")" = 1

# --- a table of ours that somebody dropped, where qm_schema says that it was made
rows "DROP TABLE qm_workunit"
expect 1 '^error +upgrade +qm_schema +.*DELETE FROM qm_schema WHERE version > 0' adopt "$project"
claim "nothing says that it is there" not grep -q 'tables of this server exist' "$work/said"
rows "DELETE FROM qm_schema WHERE version > 0"
expect 0 'done: .*table qm_workunit' adopt "$project" --apply --yes

# --- what stumbles, each said once and clearly
boinc_folder "$work/odd" "$schema" '<joining>1</joining>' '<maintenance_delay>120</maintenance_delay>' \
    '<locality_scheduling>1</locality_scheduling>' '<debug_send>0</debug_send>' '<debug_quota/>' \
    '<sched_debug_level>99</sched_debug_level>' '<file_delete_regex>x</file_delete_regex>'
sed -i 's|feeder -d 3|feeder -d 3 -mod 2 0 --random_order --priority_order|; s|heaven_maker --daily|trickle_handler --variety x|' "$work/odd/config.xml"
sed -i 's|127.0.0.1/test/download<|127.0.0.1//test/download<|; s|<cmd>feeder.*</cmd>|&<disabled/>|; s|transitioner|made_up|' "$work/odd/config.xml"
mkdir "$work/odd/log"
echo 27030 >"$work/odd/db_revision"
: >"$work/odd/stop_sched"
rm "$work/odd/html/user"/*
expect 0 '^warning +pages +html/user +there are no web pages' adopt "$work/odd"
for line in '^warning +pages +config.xml:[0-9]+: download_url .*two slashes' '^note +project +log .*a second folder' \
    '^warning +project +stop_sched' '^warning +programs .*no daemon is BOINC.s transitioner' \
    '^warning +config .*locality_scheduling is not supported' \
    '^warning +config +config.xml:[0-9]+ +sched_debug_level is 99, which counts as 4' \
    '^warning +config .*file_delete_regex is not supported' '^note +options .*debug_quota is not read' \
    '^note +programs .*feeder -mod leaves jobs out' '^note +programs .*feeder --random_order shuffles' \
    '^warning +clients +config.xml: no_work_delay .*trickles.* for 120 s'; do
    claim "$line" grep -qE "$line" "$work/said"
done
claim "no word about an option that is off" not grep -q debug_send "$work/said"
claim "no word about an order that stays" not grep -q priority_order "$work/said"
claim "no word about the delay where it is short" not grep -q maintenance_delay "$work/said"
expect 0 'feeder is disabled, and must stay disabled' adopt "$work/odd" --all
mkdir -p "$work/odd/buda_apps/fold/arm_cpu"
echo '{"name": "fold"}' >"$work/odd/buda_apps/fold/desc.json"
echo '{"cpu_type": "arm", "plan_class": 5}' >"$work/odd/buda_apps/fold/arm_cpu/variant.json"
sql "$schema" -e "SET sql_mode = ''; INSERT INTO workunit SET id = 9000001, name = 'science', appid = 1,
    xml_doc = '<workunit><buda_app_name>fold</buda_app_name></workunit>';
    INSERT INTO result SET id = 9000001, workunitid = 9000001, appid = 1, name = 'science_0', server_state = 2"
expect 0 '^ok +apps +buda_apps +1 unfinished job of 1 science app' adopt "$work/odd" --all
claim "a file of it that cannot be used is named with the key" \
    grep -q 'buda_apps/fold/arm_cpu/variant.json: the key "plan_class" is no text' "$work/said"
claim "and its jobs" grep -q '1 waiting job for the science app fold' "$work/said"
sql "$schema" -e "DELETE FROM workunit WHERE id = 9000001; DELETE FROM result WHERE id = 9000001"
sql "$schema" -e "SET sql_mode = ''; UPDATE app SET weight = 2;
    INSERT INTO app SET name = 'old', user_friendly_name = '', weight = 5, deprecated = 1, create_time = 1"
adopt "$work/odd" >"$work/said"
claim "no word about weights that are equal where it matters" not grep -q weight "$work/said"
sql "$schema" -e "SET sql_mode = ''; UPDATE app SET homogeneous_redundancy = 1, locality_scheduling = 2, n_size_classes = 3, beta = 1;
    INSERT INTO app SET name = 'heavy', user_friendly_name = '', weight = 3, create_time = 1;
    CREATE TRIGGER beside AFTER UPDATE ON host FOR EACH ROW SET @a = 1;
    ALTER TABLE platform ENGINE = MyISAM"
echo '<plan_classes><plan_class><name>a</name><gputype>x</gputype></plan_class></plan_classes>' >"$work/odd/plan_class_spec.xml"
adopt "$work/odd" >"$work/said"
for line in '^warning +tables +platform +its engine is MyISAM, .* a server only reads it' \
    '^warning +tables +host +the trigger beside runs AFTER UPDATE' '^note +apps +weight +their weights have no effect' \
    '^warning +plan_classes .*unknown element <gputype>'; do
    claim "$line" grep -qE "$line" "$work/said"
done
claim "none of these is an error" not grep -q '^error' "$work/said"
sql "$schema" -e "ALTER TABLE result ENGINE = MyISAM"
expect 1 '^error +tables +result +its engine is MyISAM' adopt "$work/odd" --apply --yes
for line in '^warning +apps +work +locality scheduling other than 1' '^warning +apps +work +jobs of several sizes' \
    'first correct the errors|nothing to change'; do
    claim "$line" grep -qE "$line" "$work/said"
done

expect 1 '"level": "error", "topic": "tables"' adopt "$work/odd" --json
found ok apps 'homogeneous redundancy'
found ok apps 'test apps'

# --- an address at which nobody can join, or that clients write otherwise
sed "s|<master_url>http://127.0.0.1/test/|<master_url>http://localhost/test/|" "$work/odd/config.xml" >"$work/odd/config.xml.new"
mv "$work/odd/config.xml" "$work/odd/config.xml.kept"
mv "$work/odd/config.xml.new" "$work/odd/config.xml"
expect 1 '^error +options +config.xml:[0-9]+ +master_url: http://localhost/test/ has no dot' adopt "$work/odd"
sed -i "s|<master_url>http://localhost/test/|<master_url>http://Example.org/test|" "$work/odd/config.xml"
expect 1 '^warning +options +config.xml:[0-9]+ +master_url: clients spell http://Example.org/test as http://example.org/test/' adopt "$work/odd"
mv "$work/odd/config.xml.kept" "$work/odd/config.xml"

# --- bad input
expect 1 '^qmctl: /nowhere/at/all: No such file' adopt /nowhere/at/all
expect 1 'there is no config.xml, so this is not a project' adopt "$work"
expect 1 'is not a folder' adopt "$work/odd/config.xml"
expect 2 'adopt' adopt
cp -r "$work/odd" "$work/bad"
sed -i 's|</config>||' "$work/bad/config.xml"
expect 1 '^qmctl: .*config.xml:[0-9]+: Opening and ending tag' adopt "$work/bad"
sed "s|$QM_TEST_SOCKET|$work/none|" "$work/odd/config.xml" >"$work/bad/config.xml"
expect 1 '^error +database .*(connect|Connect)' adopt "$work/bad"
expect 1 '^error +database ' adopt "$work/bad" --apply --yes
sed "s|$schema|${schema}_none|" "$work/odd/config.xml" >"$work/bad/config.xml"
expect 1 '^error +database .*Unknown database' adopt "$work/bad"
sql -e "CREATE DATABASE ${schema}_old; CREATE TABLE ${schema}_old.user (id INT)"
sed "s|$schema|${schema}_old|" "$work/odd/config.xml" >"$work/bad/config.xml"
expect 1 '^error +tables .*there is no table "app"' adopt "$work/bad"
schema=qm_integration_$$_poor
boinc_tables "$schema" 2012
sql "$schema" -e "ALTER TABLE host DROP COLUMN error_rate"
boinc_folder "$work/poor" "$schema"
rows "INSERT INTO platform SET create_time = 1, name = 'x86_64-pc-linux-gnu', user_friendly_name = 'Linux'"
expect 1 '^error +tables .*older than March 2010' adopt "$work/poor"
echo 27010 >"$work/poor/db_revision"
sql "$schema" -e "ALTER TABLE host ADD COLUMN error_rate DOUBLE NOT NULL DEFAULT 0"
# Somebody who may not make tables; half-way, and then with the rights.
sql -e "CREATE USER '$schema'@localhost IDENTIFIED BY 'x'; GRANT SELECT, INSERT, UPDATE, DELETE ON $schema.* TO '$schema'@localhost"
sed -i "s|<db_user>root|<db_passwd>x</db_passwd><db_user>$schema|" "$work/poor/config.xml"
expect 1 '^qmctl: .*(CREATE|command) .*denied to user' adopt "$work/poor" --apply --yes
sql "$schema" -e "CREATE TABLE qm_schema (version BIGINT NOT NULL PRIMARY KEY, name VARCHAR(191) NOT NULL, done TINYINT NOT NULL);
    CREATE TABLE qm_host (hostid BIGINT NOT NULL PRIMARY KEY, rpcs BIGINT NOT NULL, token BIGINT NOT NULL, changed BIGINT NOT NULL)"
expect 0 'done: .*table qm_host' adopt "$work/poor" --apply --yes --db-admin root
expect 0 'nothing to change' adopt "$work/poor"
claim "what db_revision claims and is not there" grep -qE '^warning +columns +app_version.beta .*but db_revision says' "$work/said"
claim "what it does not claim" grep -qE '^note +columns +host.misc ' "$work/said"
sql -e "DROP USER '$schema'@localhost"
finish
