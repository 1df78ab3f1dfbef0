#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks the table "What is wrong, and who says so" of quartermaster(8): each of its set-ups is made beside
# a running server, and qmctl status, check-config, the server's figures and its pages have to name it; nobody
# does before and after. Set-ups that leave each other alone are made together.
# shellcheck disable=SC2317,SC2016 # walk() calls the functions; backquotes are those of the page
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx openssl mariadb mariadbd

database=$work/db # of our own: its settings are changed
"$QM_SOURCE_DIR/tools/private-mariadb" start --in-memory "$database" || exit $?
trap '"$QM_SOURCE_DIR/tools/private-mariadb" stop "$database"; clean_up' EXIT
QM_TEST_SOCKET=$(readlink -f "$database/socket")
cp "$QM_BINARY_DIR/quartermaster" "$QM_BINARY_DIR/qmctl" "$work/bin/"
sql -e "CREATE DATABASE $schema; CREATE USER qm@localhost IDENTIFIED BY 'word'; GRANT ALL ON $schema.* TO qm@localhost"
take_port
web_port=$port
base=http://127.0.0.1:$port
"$work/bin/qmctl" init "$project" --url "$base/test/" --name Broken --db-name "$schema" \
    --db-socket "$QM_TEST_SOCKET" --db-user qm --db-passwd word >"$work/init.log" || exit 1
fill_project
cp "$QM_SOURCE_DIR"/templates/simple_*.xml "$project/templates/"
echo program >"$work/work"
version=1 # that of fill_project
for platform in x86_64-pc-linux-gnu windows_x86_64 x86_64-apple-darwin i686-pc-linux-gnu; do # numbers 2 to 5
    version=$((version + 1))
    [ $version -lt 5 ] || echo >"$work/work" # the smallest is what status downloads
    "$work/bin/qmctl" --project "$project" version add work 1.01 "$platform" "$work/work" >"$work/added" || exit 1
done
cp -a "$project" "$work/kept"

{
    openssl req -newkey rsa:2048 -nodes -keyout "$work/old.key" -subj /CN=127.0.0.1 -out "$work/old.csr" &&
        openssl x509 -req -in "$work/old.csr" -signkey "$work/old.key" -days -1 -out "$work/old.crt"
} >"$work/openssl.log" 2>&1 || exit 1

openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout "$work/other.key" -subj /CN=other.example.org \
    -out "$work/other.crt" 2>>"$work/openssl.log" || exit 1

# --- what is broken
option() { sed -i "/<$1>/d; s|^  </config>|    <$1>$2</$1>\n&|" "$project/config.xml"; }
break_no_insert() { sql -e "REVOKE INSERT ON $schema.* FROM qm@localhost"; }
break_no_update() { sql -e "REVOKE UPDATE ON $schema.* FROM qm@localhost"; }
break_read_only() { sql -e "SET GLOBAL read_only = 1"; }
break_password() { sql -e "ALTER USER qm@localhost IDENTIFIED BY 'another'"; }
break_host() {
    option db_socket ""
    option db_host 127.0.0.1:1
}
break_socket() { option db_socket "$work/nothing"; }
break_database() { option db_name nowhere_at_all; }
# Each connection that somebody gives back is taken by one that waits for it.
break_full() {
    touch "$work/full"
    sql -e "SET GLOBAL max_connections = 10"
    for _ in {1..12}; do
        while [ -f "$work/full" ]; do
            mariadb --no-defaults -S "$QM_TEST_SOCKET" -u qm -pword -e "SELECT SLEEP(3)" >"$work/sleep" 2>&1 </dev/null ||
                sleep 0.1
        done &
        sleepers+=($!)
    done
}
break_statements() { sql -e "SET GLOBAL max_prepared_stmt_count = 0"; }
# Held by a connection that waits for its next command.
break_locked() {
    mkfifo "$work/commands"
    mariadb --no-defaults -S "$QM_TEST_SOCKET" -u root -n <"$work/commands" >"$work/locked" 2>&1 &
    locker=$!
    exec 8>"$work/commands"
    echo "FLUSH TABLES WITH READ LOCK; SELECT 'locked';" >&8
    within 20 grep -q locked "$work/locked"
}
# Of connections that are opened from now on, but not the administrator's. It stands still.
break_clock() { sql -e "SET GLOBAL init_connect = 'SET SESSION timestamp = UNIX_TIMESTAMP() + 259290'"; }
break_future() { rows "SET sql_mode = ''; INSERT INTO host SET id = 99, userid = 1, rpc_time = UNIX_TIMESTAMP() + 259200"; }
# As processes write them that were told so by hosts.
break_failing_version() {
    rows "INSERT INTO qm_fate VALUES (UNIX_TIMESTAMP() DIV 3600, 1, 1, 1, 0, 3, -186, 25),
        (UNIX_TIMESTAMP() DIV 3600, 1, 1, 1, 0, 2, 0, 5)"
}
break_failing_host() { rows "INSERT INTO qm_host_fate VALUES (7, 9, 9, UNIX_TIMESTAMP())"; }
break_failing_batch() {
    rows "INSERT INTO qm_fate VALUES (UNIX_TIMESTAMP() DIV 3600, 2, 1, 3, 77, 3, 1, 6), (UNIX_TIMESTAMP() DIV 3600, 2, 1, 3, 78, 2, 0, 600)"
}
break_numbers() { rows "ALTER TABLE host AUTO_INCREMENT = 2147483647"; }
break_small_packets() { sql -e "SET GLOBAL max_allowed_packet = 1048576"; }
break_tiny_packets() { sql -e "SET GLOBAL max_allowed_packet = 65536"; }
break_old_tables() { rows "RENAME TABLE qm_duty TO qm_duty_away"; }
break_lost_commits() { sql -e "SET GLOBAL innodb_flush_log_at_trx_commit = 2"; }
break_log_of_all() { sql -e "SET GLOBAL log_output = 'NONE', general_log = 1"; }
break_many_threads() { option threads 1000; }
break_bad_ban() { option ban_os "Windows("; }
break_unknown_word() { option db_nane x; }
break_bad_number() { option threads many; }
break_two_faults() {
    option threads many
    mv "$project/upload" "$project/elsewhere"
}
break_broken_xml() { sed -i 's|</boinc>||; s|</config>||' "$project/config.xml"; }
break_no_key() { rm "$project/keys/code_sign_public"; }
break_half_a_key() { rm "$project/keys/upload_private"; }
break_gui_urls() { mkdir "$project/gui_urls.xml"; }
break_ampersand() { printf '<gui_urls>\n<gui_url><url>http://example.org/?a&b</url></gui_url>\n</gui_urls>\n' >"$project/gui_urls.xml"; }
break_bad_template() { mkdir "$project/templates/other_in.xml"; }
break_missing_input() {
    sed 's|</file_info>|<physical_name>not_there</physical_name>&|' "$project/templates/simple_in.xml" >"$project/templates/other_in.xml"
}
break_missing_program() { rm "$project/download/work_1.01_x86_64-pc-linux-gnu"; }
break_cut_program() { echo less >"$project/download/work_1.01_windows_x86_64"; }
break_changed_program() { echo another >"$project/download/work_1.01_x86_64-apple-darwin"; }
break_missing_job_input() {
    add_jobs 3 11
    rows "UPDATE workunit SET xml_doc = '<file_info>
<name>not_there</name>
<url>$base/test/download/not_there</url>
<nbytes>3</nbytes>
</file_info>
<workunit>
</workunit>
' WHERE id BETWEEN 11 AND 13"
}
break_missing_result_template() {
    add_jobs 3 21
    rows "UPDATE workunit SET result_template_file = 'templates/gone_out.xml' WHERE id BETWEEN 21 AND 23"
}
break_other_keys() {
    rm "$project"/keys/code_sign_*
    "$work/bin/qmctl" --project "$project" keys >"$work/keys.log"
}
break_plan_class() { echo '<plan_classes><plan_class></plan_classes>' >"$project/plan_class_spec.xml"; }
break_plan_class_word() {
    echo '<plan_classes><plan_class><name>a</name><gputype>nvidia</gputype></plan_class></plan_classes>' >"$project/plan_class_spec.xml"
}
break_terms() { mkdir "$project/terms_of_use.txt"; }
break_no_upload_dir() { mv "$project/upload" "$project/elsewhere"; }
break_closed_upload_dir() {
    chmod a-w "$project/upload"
    chmod 644 "$project/config.xml"
    [ "$(id -u)" -ne 0 ] || asks=(setpriv --reuid 65534 --regid 65534 --clear-groups)
}
break_no_sandbox_dir() {
    option submission 1
    option sandbox_dir /nowhere
}
# close_sandbox MODE PATH: to whoever is not root
close_sandbox() {
    option submission 1
    mkdir -p "$project/sandbox/7"
    chmod "$1" "$project/$2"
    chmod 644 "$project/config.xml"
    [ "$(id -u)" -ne 0 ] || asks=(setpriv --reuid 65534 --regid 65534 --clear-groups)
}
break_closed_sandboxes() { close_sandbox 600 sandbox; }
break_closed_sandbox() { close_sandbox 600 sandbox/7; }
break_open_folder() { chmod o+w "$project/download"; }
break_shown_password() { chmod o+r "$project/config.xml"; }
break_master_page() { echo '<scheduler>http://other.example.org/cgi</scheduler>' >"$project/html/user/index.html"; }
break_no_master_page() { echo '<html><body><h1>It works!</h1></body></html>' >"$project/html/user/index.html"; }
break_not_served() { rows "UPDATE app_version SET xml_doc = REPLACE(xml_doc, '/download/', '/downloads/') WHERE id = 5"; }
break_no_submission() { option submission 1; } # nobody has started the process
break_upload_url() { option upload_url http://127.0.0.1:1/; }
break_refused_address() { option master_url "http://localhost:$web_port/test/"; }
break_odd_address() { option master_url "http://127.0.0.1:$web_port//test"; }
# secure_page NAME OPTION: at this URL answers somebody with this certificate. Nobody trusts it either; what
# is told is its date, or its name.
secure_page() {
    take_port
    openssl s_server -quiet -accept "127.0.0.1:$port" -cert "$work/$1.crt" -key "$work/$1.key" -www >"$work/secure" 2>&1 </dev/null &
    secure=$!
    option "$2" "https://127.0.0.1:$port/"
    within 20 curl -sk -o "$work/secure.page" "https://127.0.0.1:$port/"
}
break_old_certificate() { secure_page old upload_url; }
break_other_certificate() { secure_page other upload_url; }
break_old_master_certificate() { secure_page old master_url; }
break_other_master_certificate() { secure_page other master_url; }
# Versions have the URL that download_url was when they were made.
break_old_download_certificate() {
    secure_page old download_url
    rows "UPDATE app_version SET xml_doc = REPLACE(xml_doc, '$base/test/download/', 'https://127.0.0.1:$port/')"
}
break_other_download_certificate() {
    secure_page other download_url
    rows "UPDATE app_version SET xml_doc = REPLACE(xml_doc, '$base/test/download/', 'https://127.0.0.1:$port/')"
}
break_stop_sched() { touch "$project/stop_sched"; }
break_no_jobs() { option dont_send_jobs 1; }
break_drained() { "$work/bin/qmctl" --project "$project" drain >"$work/drained"; }
# A command that is there and fails. What else is due by then is done, so this one is made first.
break_failing_validator() {
    add_jobs 1 31
    rows "UPDATE result SET server_state = 5, outcome = 1 WHERE id = 31; UPDATE workunit SET need_validate = 1 WHERE id = 31"
    "$work/bin/qmctl" --project "$project" transition --validate 'exit 9 #' >"$work/validator.log" 2>&1
}
break_no_transitions() {
    add_jobs 3 41
    rows "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() - 7200 WHERE id = 42"
}
break_not_validated() {
    add_jobs 2 51
    rows "UPDATE workunit SET need_validate = 1, mod_time = NOW() - INTERVAL 2 HOUR WHERE id IN (51, 52)"
}
break_not_assimilated() {
    add_jobs 2 61
    rows "UPDATE workunit SET assimilate_state = 1, mod_time = NOW() - INTERVAL 2 DAY WHERE id IN (61, 62)"
}
break_lost_app() {
    add_jobs 3 71
    rows "UPDATE workunit SET appid = 99, need_validate = 1 WHERE id IN (71, 72)"
}
break_lost_target() {
    add_jobs 1 81
    rows "UPDATE workunit SET transitioner_flags = 2 WHERE id = 81; INSERT INTO assignment SET create_time = 1,
        target_type = 1, target_id = 4711, multi = 0, workunitid = 81, resultid = 0"
}
break_clock_back() {
    add_jobs 2 91
    rows "UPDATE result SET sent_time = UNIX_TIMESTAMP() + 7200 WHERE id = 91"
}
# --- jobs that the only host cannot have
# other_app ID NAME PLATFORM: with a version for it; without PLATFORM: without one.
other_app() {
    rows "SET sql_mode = ''; INSERT INTO app SET id = $1, create_time = 1, name = '$2', user_friendly_name = '$2', weight = 1"
    [ -z "$3" ] || rows "SET sql_mode = ''; INSERT INTO app_version (id, create_time, appid, version_num, platformid, xml_doc)
        SELECT $1, 1, $1, 100, (SELECT id FROM platform WHERE name = '$3'), xml_doc FROM app_version WHERE id = 1"
    touch "$project/reread_db"
}
job_of() { # APP-ID JOB-ID ASSIGNMENTS
    add_jobs 1 "$2"
    rows "UPDATE workunit SET $3 WHERE id = $2; UPDATE workunit, result SET workunit.appid = $1, result.appid = $1
        WHERE workunit.id = $2 AND result.id = $2"
}
break_app_without_version() { other_app 12 bare '' && job_of 12 101 'batch = 0'; }
break_old_app() {
    other_app 13 old x86_64-pc-linux-gnu && job_of 13 102 'batch = 0'
    rows "UPDATE app SET deprecated = 1 WHERE id = 13"
}
break_other_platform() { other_app 14 windows windows_x86_64 && job_of 14 103 'batch = 0'; }
break_retired_versions() {
    other_app 15 retired x86_64-pc-linux-gnu && job_of 15 104 'batch = 0'
    rows "UPDATE app_version SET deprecated = 1 WHERE id = 15"
}
break_new_client() {
    other_app 16 new x86_64-pc-linux-gnu && job_of 16 105 'batch = 0'
    rows "UPDATE app_version SET min_core_version = 990000 WHERE id = 16"
}
break_other_kind() {
    other_app 17 alike x86_64-pc-linux-gnu && job_of 17 106 'hr_class = 5'
    rows "UPDATE app SET homogeneous_redundancy = 1 WHERE id = 17"
}
break_much_memory() { job_of 1 107 'rsc_memory_bound = 1e15'; rows "UPDATE result SET priority = 100 WHERE id = 107"; }
break_much_disk() { job_of 1 108 'rsc_disk_bound = 1e18'; }
break_short_deadline() { job_of 1 109 'delay_bound = 1'; }
break_version_number() { job_of 1 110 'app_version_num = 777'; }
break_large_quorum() {
    job_of 1 111 'min_quorum = 3'
    option one_result_per_user_per_wu 1
}
break_banned_host() {
    add_jobs 1 112
    rows "UPDATE host SET max_results_day = -1"
}
break_banned_systems() {
    add_jobs 1 113
    option ban_os '.*'
}
break_time_outs() { rows "INSERT INTO qm_fate VALUES (UNIX_TIMESTAMP() DIV 3600, 1, 1, 2, 0, 5, 0, 58)"; }
# --- the rest
break_foreign_key() {
    sed '/<dont_send_work>/d; s|<work_req_seconds>[^<]*<|<work_req_seconds>100<|; s|<cpu_req_secs>[^<]*<|<cpu_req_secs>100<|' "$request" >"$work/foreign.xml"
    for _ in 1 2 3; do post "$base/test_cgi/cgi" "$work/foreign.xml" >"$work/foreign.reply"; done
    restarts=yes # or it is remembered for ten minutes
}
break_open_key() { chmod 644 "$project/keys/code_sign_private"; }
break_unknown_plan_class() { rows "UPDATE app_version SET plan_class = 'cudaa' WHERE id = 1"; }
break_stop_uploads() { touch "$project/stop_upload"; }
break_given_twice() { sed -i 's|^  </config>|    <max_wus_to_send>40</max_wus_to_send>\n&|' "$project/config.xml"; }
break_seldom() { option min_sendwork_interval 86400; }
break_outside() { sed -i 's|^  </config>|&\n  <max_wus_in_progress>4</max_wus_in_progress>|' "$project/config.xml"; }
break_word_for_flag() { option joining yes; }
break_tab_in_url() { option upload_url "$base/test/"$'\t'"upload"; }
break_uploads_by_another_name() { option upload_url "$base/test/uploads"; }
break_not_innodb() { rows "ALTER TABLE team ENGINE=MyISAM"; }
break_lost_index() { rows "DROP INDEX res_app_state ON result"; }
break_shown_uploads() {
    mkdir "$project/download/uploads"
    option upload_dir "$project/download/uploads"
}
break_no_download_dir() { mv "$project/download" "$project/elsewhere_download"; }
break_closed_partial() {
    mkdir -p "$project/upload/.partial"
    chmod 700 "$project/upload/.partial"
    chmod 644 "$project/config.xml"
    chmod o+w "$project/upload"
    [ "$(id -u)" -ne 0 ] || asks=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    [ "$(id -u)" -eq 0 ] || chmod 500 "$project/upload/.partial"
}
break_small_bodies() {
    sed -i 's/client_max_body_size [^;]*;/client_max_body_size 1k;/' "$work/nginx1/nginx.conf"
    reload_nginx
}
break_other_scheduler() { option scheduler_url "$base/test/index.html"; }
break_no_scheduler() { sed -i '/<scheduler_url>/d' "$project/config.xml"; }
break_unreachable_page() { option master_url http://127.0.0.1:1/test/; }
break_copied_project() {
    sql -e "CREATE DATABASE ${schema}_copy; GRANT ALL ON ${schema}_copy.* TO qm@localhost"
    mariadb-dump --no-defaults -S "$QM_TEST_SOCKET" -u root "$schema" | sql "${schema}_copy"
    sql "${schema}_copy" -e "UPDATE qm_server SET beat = 1"
    cp -a "$project" "$work/copy"
    sed -i "s|<db_name>.*<|<db_name>${schema}_copy<|" "$work/copy/config.xml"
    asked_project=$work/copy
}
break_same_socket() {
    not timeout 30 "$program" --project "$project" --listen "unix:$work/one.socket" --log "$work/second.log"
}
break_no_server() {
    end_process "$server_pid"
    server_pid=
}

# --- from public reports of BOINC projects
# A CGI upload handler ran as the web server's user.
break_folder_of_another() {
    mkdir -p "$project/upload/1a7"
    chmod 755 "$project/upload/1a7"
    chmod 644 "$project/config.xml"
    chmod o+w "$project/upload"
    [ "$(id -u)" -ne 0 ] || asks=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    [ "$(id -u)" -eq 0 ] || chmod 500 "$project/upload/1a7"
}
break_closed_config() {
    chmod 600 "$project/config.xml"
    [ "$(id -u)" -ne 0 ] || asks=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    [ "$(id -u)" -eq 0 ] || chmod 000 "$project/config.xml"
}
break_local_address() { option master_url http://boinc.example.invalid/test/; }
break_redirected_scheduler() {
    sed -i 's|location = /test_cgi/cgi {|&\n return 301 https://boinc.example.invalid/test_cgi/cgi;|' "$work/nginx1/nginx.conf"
    reload_nginx
}
break_not_deleted() {
    add_jobs 2 121
    rows "UPDATE result SET server_state = 5 WHERE id IN (121, 122);
        UPDATE workunit SET assimilate_state = 2, file_delete_state = 1, mod_time = NOW() - INTERVAL 40 DAY WHERE id IN (121, 122)"
}
break_core_version() {
    add_jobs 1 123
    option min_core_client_version 99000
}
break_moved_keys() { option key_dir "$work/nowhere"; }
break_wait_timeout() { sql -e "SET GLOBAL wait_timeout = 5"; }
break_no_index_page() { rm "$project/html/user/index.html"; }
break_nobody_comes() {
    add_jobs 1 124
    rows "UPDATE host SET rpc_time = 1"
}

# --- what is well
sleepers=() asks=() locker='' secure='' asked_project=$project restarts=''
reload_nginx() { kill -HUP "$(cat "$work/nginx1/pid")"; }
mend() {
    local sleeper
    asks=() asked_project=$project
    [ -z "$locker" ] || end_process "$locker"
    exec 8>&-
    [ -z "$secure" ] || end_process "$secure"
    locker='' secure=''
    rm -f "$work/full"
    within 20 sql -e "SET GLOBAL read_only = 0, max_connections = 400, max_allowed_packet = 16777216, init_connect = '', max_prepared_stmt_count = 16382, wait_timeout = 28800, innodb_flush_log_at_trx_commit = 1, general_log = 0;
        ALTER USER qm@localhost IDENTIFIED BY 'word'; GRANT ALL ON $schema.* TO qm@localhost"
    for sleeper in "${sleepers[@]}"; do wait "$sleeper" 2>/dev/null; done
    sleepers=()
    rows "RENAME TABLE IF EXISTS qm_duty_away TO qm_duty; ALTER TABLE host AUTO_INCREMENT = 1; ALTER TABLE team ENGINE=InnoDB;
        CREATE INDEX IF NOT EXISTS res_app_state ON result (appid, server_state);
        DELETE FROM workunit; DELETE FROM result; DELETE FROM assignment; DELETE FROM host WHERE id = 99; UPDATE host SET max_results_day = 0, rpc_time = UNIX_TIMESTAMP();
        DELETE FROM qm_fate; DELETE FROM qm_host_fate; DELETE FROM qm_pass; DELETE FROM app WHERE id > 1; DELETE FROM app_version WHERE id > 5;
        UPDATE app_version SET plan_class = '', xml_doc = REPLACE(REGEXP_REPLACE(xml_doc, '<url>https://127[^/]*/', '<url>$base/test/download/'), '/downloads/', '/download/')"
    sql -e "DROP DATABASE IF EXISTS ${schema}_copy"
    rm -rf "$project/gui_urls.xml" "$project/terms_of_use.txt" "$project/templates/other_in.xml" "$work/copy" \
        "$project/plan_class_spec.xml" "$project/stop_sched" "$project/stop_work" "$project/stop_upload" "$project/download/uploads" "$project/upload/1a7"
    [ ! -d "$project/sandbox" ] || chmod -R u+rwX "$project/sandbox"
    rm -rf "$project/sandbox"
    [ ! -d "$project/elsewhere" ] || mv "$project/elsewhere" "$project/upload"
    [ ! -d "$project/elsewhere_download" ] || mv "$project/elsewhere_download" "$project/download"
    if ! cmp -s "$work/nginx.conf" "$work/nginx1/nginx.conf"; then
        cp "$work/nginx.conf" "$work/nginx1/nginx.conf"
        reload_nginx
    fi
    [ -z "$restarts" ] || end_process "$server_pid"
    [ -z "$restarts" ] || server_pid=
    restarts=
    chmod 775 "$project/upload" "$project/download"
    cp -a "$work/kept/keys" "$work/kept/download" "$work/kept/html" "$project/"
    cp -a "$work/kept/config.xml" "$project/config.xml.new"
    touch "$project/config.xml.new"
    mv "$project/config.xml.new" "$project/config.xml"
    [ -n "$server_pid" ] || start_server one --threads 2
}
asked() { "${asks[@]}" timeout 60 "$work/bin/qmctl" --project "$asked_project" "$@" >"$work/said.$1" 2>&1; }
look() { # what is said is in $work/said.*
    asked status
    status_exit=$?
    asked check-config
    return 0
}
again() { [ -z "$server_pid" ] || kill -HUP "$server_pid"; } # the server looks
figures() { curl -s --max-time 10 "$base/test_cgi/cgi/metrics" >"$work/said.metrics"; }
# A figure without a value: whatever it is, but 0.
shown() { case $1 in *' '*) grep -qxF -- "$1" "$work/said.metrics" ;; *) awk -v name="$1" '$1 == name && $2 > 0 { found = 1 } END { exit !found }' "$work/said.metrics" ;; esac; }
shows() {
    figures && shown "$1" && return
    again
    sleep 1
    return 1
}
# page_tells COUNTER: its words on its page need attention, or are those of a row with a number.
page_tells() {
    curl -s --max-time 10 "$base/test_cgi/cgi/${pages[$1]}" >"$work/said.page"
    grep -F -- "${page_words[$1]}" "$work/said.page" | grep -qE '<li|<p>Not known|<td[^>]*>[1-9]' && return
    again
    sleep 1
    return 1
}
counter_of() { # FIGURE
    local name=${1%%[ \{]*}
    echo "${name#quartermaster_}"
}
is_well() {
    figures && grep -qF 'quartermaster_database_state{state="ok"} 1' "$work/said.metrics" &&
        ! grep -E '^quartermaster_(check_findings\{.*\}|restarts_wanted|stop_sched|sends_no_jobs|jobs_without_hosts|passes_failing) [1-9]' "$work/said.metrics" >"$work/unwell"
}
# A web server that reads its configuration anew may answer as before for a moment.
is_well_again() {
    asked status
    again
    is_well
}
all_is_well() {
    again
    claim "$1: the server is content" within 30 is_well
    look
    claim "$1: status is content" test "$status_exit" = 0
    claim "$1: check-config says OK" grep -q '^OK: 0 errors, 0 warnings$' "$work/said.check-config"
    claim "$1: the page says so" test "$(curl -s -o /dev/null -w '%{http_code}' "$base/test_cgi/cgi")" = 200
}

has() { [ "$2" = - ] || grep -qF -- "$2" "$work/said.$1"; }
# look_says STATUS CHECK
look_says() { look && has status "$1" && has check-config "$2"; }
# said BY WHAT WHERE WORDS
said() {
    [ "$4" != - ] || return 0
    grep -qF -- "$4" "$3" && return
    claim_failed "$1: $2 says: $4"
    cut -c 1-300 "$3"
}
# Those that may be made together, as none hides or changes what is said of another.
together=" future numbers lost_commits log_of_all failing_host failing_batch missing_program cut_program changed_program
    missing_job_input missing_result_template not_served master_page failing_validator no_transitions not_validated
    not_assimilated not_deleted lost_app lost_target clock_back app_without_version old_app other_platform retired_versions new_client
    other_kind much_memory much_disk short_deadline version_number large_quorum time_outs open_key unknown_plan_class
    stop_uploads given_twice seldom outside not_innodb half_a_key gui_urls bad_template plan_class_word terms open_folder
    shown_password "
together=${together//$'\n'/ }
read_rows() { # keys, statuses, checks, figures
    local key status check figure
    keys=() statuses=() checks=() figures=()
    while IFS='|' read -r _ key _ status check figure _; do
        keys+=("$(tr -d ' `' <<<"$key")")
        statuses+=("$(sed 's/^ *`*//; s/`* *$//' <<<"$status")")
        checks+=("$(sed 's/^ *`*//; s/`* *$//' <<<"$check")")
        figures+=("$(sed 's/^ *`*//; s/`* *$//' <<<"$figure")")
    done < <(sed -n '/^| set-up /,/^$/p' "$QM_SOURCE_DIR/server/quartermaster.8.md" | grep '^| `')
}
declare -A pages page_words
read_pages() {
    local counter page words alert
    while IFS='|' read -r _ counter page words alert _; do
        counter=$(tr -d ' `' <<<"$counter")
        pages[$counter]=$(tr -d ' ' <<<"$page" | sed 's/Server/status/; s/Project/project/')
        page_words[$counter]=$(sed 's/^ *`//; s/` *$//' <<<"$words")
        alert=$(tr -d ' `' <<<"${alert% (*}")
        [ "$alert" = - ] || claim "$counter has the alert $alert" grep -q "quartermaster_$counter" \
            <(grep -A 1 "alert: $alert\$" "$QM_SOURCE_DIR/config/prometheus-alerts.yml")
    done < <(sed -n '/^| counter | page/,/^$/p' "$QM_SOURCE_DIR/server/quartermaster.8.md" | grep '^| `')
}
rows_say() { # INDEX...: as look_says, of all of them
    local i
    look
    for i; do has status "${statuses[i]}" && has check-config "${checks[i]}" || return 1; done
}
# make INDEX...: and mend.
make() {
    local i
    figures
    for i; do
        walked=$((walked + 1))
        [ "${figures[i]}" = - ] || claim "${keys[i]}: nobody says so before" not shown "${figures[i]}"
    done
    for i; do "break_${keys[i]}" || claim_failed "${keys[i]} cannot be made"; done
    [ $# = 1 ] || rows "UPDATE qm_duty SET due = 0" # the project's jobs are counted
    again
    within 20 rows_say "$@"
    again # servers read what was left for them
    for i; do
        case ${figures[i]} in
        -) ;;
        quartermaster_*)
            within 30 shows "${figures[i]}" || said "${keys[i]}" "the server" "$work/said.metrics" "${figures[i]}"
            claim "${keys[i]}: so does a page" within 60 page_tells "$(counter_of "${figures[i]}")"
            ;;
        *) said "${keys[i]}" "the log" "$work/second.log" "${figures[i]}" ;;
        esac
    done
    for i; do
        say "${keys[i]}"
        said "${keys[i]}" "qmctl status" "$work/said.status" "${statuses[i]}"
        said "${keys[i]}" "check-config" "$work/said.check-config" "${checks[i]}"
        case ${statuses[i]} in -) ;; *) grep -F -- "${statuses[i]}" "$work/said.status" | grep -q 'warning\|unknown' ||
            claim "${keys[i]}: status fails" test "$status_exit" = 1 ;; esac
    done
    mend
    within 60 is_well_again && return
    claim_failed "${keys[$1]}: all is well afterwards"
    tail -n 3 "$work/unwell" "$work/one.log"
    finish # whatever came next would wait in vain
}
walk() {
    local i several=()
    read_rows
    read_pages
    for i in "${!keys[@]}"; do
        for said in status check-config; do
            case $said in status) words=${statuses[i]} ;; *) words=${checks[i]} ;; esac
            [ "$words" = - ] || claim "${keys[i]}: $said does not say so before" not grep -qF -- "$words" "$work/said.$said"
        done
        case $together in *" ${keys[i]} "*) several+=("$i") ;; esac
    done
    make "${several[@]}"
    for i in "${!keys[@]}"; do
        case $together in *" ${keys[i]} "*) ;; *) make "$i" ;; esac
    done
}

: >"$work/second.log"
: >"$work/unwell"
start_server one --threads 2
start_uploads
start_nginx "$work/one.socket"
cp "$work/nginx1/nginx.conf" "$work/nginx.conf"
# A host that says what it is.
add_host
sed '/<code_sign_key>/,/<\/code_sign_key>/d' "$request" >"$work/first.xml"
post "$base/test_cgi/cgi" "$work/first.xml" >"$work/first.reply"
claim "a host comes" test "$(rows "SELECT COUNT(*) FROM qm_host_said")" = 1
all_is_well "at first"
[ $failures -eq 0 ] || finish
walked=0
walk
claim "twenty set-ups and more were walked ($walked)" test "$walked" -ge 20
all_is_well "at last"
claim "the log tells what a reload changes" grep -q 'event=config_changed option=threads was=8 is=1000' "$work/one.log"
claim "and what wants a restart" grep -q 'event=restart_needed option=threads' "$work/one.log"
claim "and why it is refused" grep -q 'event=config_refused why=.*config.xml:[0-9]*: ban_os' "$work/one.log"
finish
