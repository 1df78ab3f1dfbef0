#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks the table "What is wrong, and who says so" of quartermaster(8): each of its set-ups is made beside
# a running server, and qmctl status, check-config and the server's figures have to name it; nobody does
# before and after.
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
"$work/bin/qmctl" --project "$project" version add work 1.01 x86_64-pc-linux-gnu "$work/work" >"$work/added" || exit 1
cp -a "$project" "$work/kept"

{
    openssl req -newkey rsa:2048 -nodes -keyout "$work/old.key" -subj /CN=127.0.0.1 -out "$work/old.csr" &&
        openssl x509 -req -in "$work/old.csr" -signkey "$work/old.key" -days -1 -out "$work/old.crt"
} >"$work/openssl.log" 2>&1 || exit 1

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
    rows "INSERT INTO qm_fate SELECT UNIX_TIMESTAMP() DIV 3600, 1, id, 1, 0, 3, -186, 25 FROM app;
        INSERT INTO qm_fate SELECT UNIX_TIMESTAMP() DIV 3600, 1, id, 1, 0, 2, 0, 5 FROM app"
}
break_failing_host() { rows "INSERT INTO qm_host_fate VALUES (7, 9, 9, UNIX_TIMESTAMP())"; }
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
break_missing_program() { rm "$project"/download/work_1.01*; }
break_cut_program() { echo less >"$(echo "$project"/download/work_1.01*)"; }
break_changed_program() { echo another >"$(echo "$project"/download/work_1.01*)"; }
break_missing_job_input() {
    add_jobs 3
    rows "UPDATE workunit SET xml_doc = '<file_info>
<name>not_there</name>
<url>$base/test/download/not_there</url>
<nbytes>3</nbytes>
</file_info>
<workunit>
</workunit>
'"
}
break_missing_result_template() {
    add_jobs 3
    rows "UPDATE workunit SET result_template_file = 'templates/gone_out.xml'"
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
break_open_folder() { chmod o+w "$project/download"; }
break_shown_password() { chmod o+r "$project/config.xml"; }
break_master_page() { echo '<scheduler>http://other.example.org/cgi</scheduler>' >"$project/html/user/index.html"; }
break_no_master_page() { echo '<html><body><h1>It works!</h1></body></html>' >"$project/html/user/index.html"; }
break_not_served() { rows "UPDATE app_version SET xml_doc = REPLACE(xml_doc, '/download/', '/downloads/')"; }
break_upload_url() { option upload_url http://127.0.0.1:1/; }
break_refused_address() { option master_url "http://localhost:$web_port/test/"; }
break_odd_address() { option master_url "http://127.0.0.1:$web_port//test"; }
# Such a certificate is trusted by nobody either; what is told is the date.
break_old_certificate() {
    take_port
    openssl s_server -quiet -accept "127.0.0.1:$port" -cert "$work/old.crt" -key "$work/old.key" -www >"$work/secure" 2>&1 </dev/null &
    secure=$!
    option upload_url "https://127.0.0.1:$port/"
    within 20 curl -sk -o "$work/secure.page" "https://127.0.0.1:$port/"
}
break_stop_sched() { touch "$project/stop_sched"; }
break_no_jobs() { option dont_send_jobs 1; }
break_drained() { "$work/bin/qmctl" --project "$project" drain >"$work/drained"; }
break_no_transitions() {
    add_jobs 3
    rows "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() - 7200 WHERE id = 2"
}
break_not_validated() {
    add_jobs 2
    rows "UPDATE workunit SET need_validate = 1, mod_time = NOW() - INTERVAL 2 HOUR"
}
break_not_assimilated() {
    add_jobs 2
    rows "UPDATE workunit SET assimilate_state = 1, mod_time = NOW() - INTERVAL 2 DAY"
}
break_lost_app() {
    add_jobs 3
    rows "UPDATE workunit SET appid = 99, need_validate = 1 WHERE id < 3"
}
break_lost_target() {
    add_jobs 1
    rows "UPDATE workunit SET transitioner_flags = 2; INSERT INTO assignment SET create_time = 1, target_type = 1,
        target_id = 4711, multi = 0, workunitid = 1, resultid = 0"
}
break_clock_back() {
    add_jobs 2
    rows "UPDATE result SET sent_time = UNIX_TIMESTAMP() + 7200 WHERE id = 1"
}
break_same_socket() {
    not timeout 30 "$program" --project "$project" --listen "unix:$work/one.socket" --log "$work/second.log"
}
break_no_server() {
    end_process "$server_pid"
    server_pid=
}

# --- what is well
sleepers=() asks=() locker='' secure=''
mend() {
    local sleeper
    asks=()
    [ -z "$locker" ] || end_process "$locker"
    exec 8>&-
    [ -z "$secure" ] || end_process "$secure"
    locker='' secure=''
    rm -f "$work/full"
    within 20 sql -e "SET GLOBAL read_only = 0, max_connections = 400, max_allowed_packet = 16777216, init_connect = '', max_prepared_stmt_count = 16382, innodb_flush_log_at_trx_commit = 1, general_log = 0;
        ALTER USER qm@localhost IDENTIFIED BY 'word'; GRANT ALL ON $schema.* TO qm@localhost"
    for sleeper in "${sleepers[@]}"; do wait "$sleeper" 2>/dev/null; done
    sleepers=()
    rows "RENAME TABLE IF EXISTS qm_duty_away TO qm_duty; ALTER TABLE host AUTO_INCREMENT = 1; DELETE FROM workunit; DELETE FROM result; DELETE FROM assignment; DELETE FROM host WHERE id = 99; DELETE FROM qm_fate; DELETE FROM qm_host_fate;
        UPDATE app_version SET xml_doc = REPLACE(xml_doc, '/downloads/', '/download/')"
    rm -rf "$project/gui_urls.xml" "$project/terms_of_use.txt" "$project/templates/other_in.xml" \
        "$project/plan_class_spec.xml" "$project/stop_sched" "$project/stop_work"
    [ ! -d "$project/elsewhere" ] || mv "$project/elsewhere" "$project/upload"
    chmod 775 "$project/upload" "$project/download"
    cp -a "$work/kept/keys" "$work/kept/download" "$work/kept/html" "$project/"
    cp -a "$work/kept/config.xml" "$project/config.xml.new"
    touch "$project/config.xml.new"
    mv "$project/config.xml.new" "$project/config.xml"
    [ -n "$server_pid" ] || start_server one --threads 2
}
asked() { "${asks[@]}" timeout 60 "$work/bin/qmctl" --project "$project" "$@" >"$work/said.$1" 2>&1; }
look() { # what is said is in $work/said.*
    asked status
    status_exit=$?
    asked check-config
    return 0
}
again() { [ -z "$server_pid" ] || kill -HUP "$server_pid"; } # the server looks
figures() { curl -s --max-time 10 "$base/test_cgi/cgi/metrics" >"$work/said.metrics"; }
shows() { figures && grep -qxF -- "$1" "$work/said.metrics"; }
is_well() {
    figures && grep -qF 'quartermaster_database_state{state="ok"} 1' "$work/said.metrics" &&
        ! grep -E '^quartermaster_(check_findings\{.*\}|restarts_wanted|stop_sched|sends_no_jobs) [1-9]' "$work/said.metrics" >"$work/unwell"
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
walk() {
    local key status check figure
    while IFS='|' read -r _ key _ status check figure _; do
        key=$(tr -d ' `' <<<"$key")
        status=$(sed 's/^ *`*//; s/`* *$//' <<<"$status")
        check=$(sed 's/^ *`*//; s/`* *$//' <<<"$check")
        figure=$(sed 's/^ *`*//; s/`* *$//' <<<"$figure")
        walked=$((walked + 1))
        figures
        [ "$figure" = - ] || claim "$key: nobody says so before" not grep -qxF -- "$figure" "$work/said.metrics"
        "break_$key" || claim_failed "$key cannot be made"
        again
        case $figure in
        -) ;;
        quartermaster_*) within 30 shows "$figure" || said "$key" "the server" "$work/said.metrics" "$figure" ;;
        *) said "$key" "the log" "$work/second.log" "$figure" ;;
        esac
        within 20 look_says "$status" "$check"
        say "$key"
        said "$key" "qmctl status" "$work/said.status" "$status"
        said "$key" "check-config" "$work/said.check-config" "$check"
        case $status in -) ;; *) grep -F -- "$status" "$work/said.status" | grep -q warning || claim "$key: status fails" test "$status_exit" = 1 ;; esac
        mend
        again
        within 30 is_well && continue
        claim_failed "$key: all is well afterwards"
        tail -n 3 "$work/unwell" "$work/one.log"
        finish # whatever came next would wait in vain
    done < <(sed -n '/^## What is wrong, and who says so/,/^## [^W]/p' "$QM_SOURCE_DIR/server/quartermaster.8.md" | grep '^| `')
}

: >"$work/second.log"
: >"$work/unwell"
start_server one --threads 2
start_uploads
start_nginx "$work/one.socket"
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
