#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks the table "My hosts get no work" of running(7): makes each set-up, sends the request of a host, and looks
# for the words in the reply, the reason in the log, and what the command of the row prints.
# shellcheck disable=SC2317,SC2016 # walk calls the functions; backquotes are those of the page
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

new_project ""
take_port
web_port=$port
rows "SET sql_mode = ''; INSERT INTO host SET id = 4242, userid = 1, create_time = 1700000000, rpc_seqno = 0,
    rpc_time = UNIX_TIMESTAMP() - 86400, p_ncpus = 2, p_fpops = 1e9, m_nbytes = 25276502016, d_total = 270553174016,
    d_free = 80852537344, on_frac = 1, active_frac = 1, connected_frac = 1, os_name = 'Linux Debian', domain_name = 'localhost',
    host_cpid = '6ed0e081dfe0681c6c69bfd79bd5e447', misc = '{\"client_version\":\"7.20.5\"}'"
add_jobs 5
start_server one --threads 2
start_nginx "$work/one.socket"
sed -i "s|http://127.0.0.1/test/|${url%_cgi/cgi}/|" "$project/config.xml"
options() { write_config "<scheduler_url>$url</scheduler_url>" "$@"; }
jobs() { rows "UPDATE workunit SET $1"; }

break_stopped() { touch "$project/stop_sched"; }
break_drained() { touch "$project/stop_work"; }
break_no_jobs() { rows "UPDATE result SET server_state = 5"; }
break_no_transitions() { rows "UPDATE result SET server_state = 5; UPDATE workunit SET transition_time = 1000"; }
break_no_version() { rows "UPDATE app_version SET platformid = (SELECT id FROM platform WHERE name = 'windows_x86_64')"; }
break_withdrawn_version() { rows "UPDATE app_version SET deprecated = 1"; }
break_wanted_version() { jobs 'app_version_num = 777'; }
break_no_gpu_version() { rows "UPDATE app_version SET plan_class = 'cuda'"; }
break_memory() { jobs 'rsc_memory_bound = 1e12'; }
break_disk() { jobs 'rsc_disk_bound = 1e13'; }
break_deadline() { jobs 'rsc_fpops_est = 1e16, rsc_fpops_bound = 1e18'; }
break_quota() {
    options "<daily_result_quota>4</daily_result_quota>"
    rows "SET sql_mode = ''; INSERT INTO host_app_version SET host_id = 4242, app_version_id = 1, max_jobs_per_day = 1, n_jobs_today = 9;
        UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 10"
}
break_in_progress() {
    options "<max_wus_in_progress>1</max_wus_in_progress>"
    rows "UPDATE result SET server_state = 4, hostid = 4242, userid = 1, report_deadline = UNIX_TIMESTAMP() + 1e6 WHERE id <= 4"
}
break_preferences() { rows "UPDATE user SET project_prefs = '<project_preferences>\n<app_id>9</app_id>\n</project_preferences>\n'"; }
break_one_per_user() {
    options "<one_result_per_user_per_wu/>"
    rows "SET sql_mode = ''; INSERT INTO result (id, workunitid, appid, name, server_state, userid, hostid, outcome)
        SELECT 100 + seq, seq, 1, CONCAT('other_', seq), 5, 1, 7, 1 FROM seq_1_to_5"
}
break_too_early() {
    options "<min_sendwork_interval>7200</min_sendwork_interval>"
    rows "UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 60"
}
break_excluded() { rows "UPDATE host SET max_results_day = -1"; }
break_old_client() { options "<min_core_client_version>80000</min_core_client_version>"; }
mend() {
    rm -f "$project/stop_sched" "$project/stop_work"
    options
    rows "DELETE FROM result WHERE id > 100; DELETE FROM host_app_version; UPDATE result SET server_state = 2, hostid = 0, userid = 0, report_deadline = 0;
        UPDATE workunit SET app_version_num = 0, rsc_memory_bound = 1e7, rsc_disk_bound = 1e7, rsc_fpops_est = 1e12, rsc_fpops_bound = 1e14, transition_time = 2147483647;
        UPDATE app_version SET plan_class = '', deprecated = 0, platformid = (SELECT id FROM platform WHERE name = 'x86_64-pc-linux-gnu');
        UPDATE user SET project_prefs = ''; UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 86400, rpc_seqno = 0, max_results_day = 0"
}
sed -e "s|<hostid>.*|<hostid>4242</hostid>|; s|<rpc_seqno>.*|<rpc_seqno>1</rpc_seqno>|" \
    -e "s|<other_results>|&<other_result><name>job_1_0</name></other_result><other_result><name>job_2_0</name></other_result><other_result><name>job_3_0</name></other_result><other_result><name>job_4_0</name></other_result>|" \
    "$QM_SOURCE_DIR/tests/captures/021-attach-with-work.xml" >"$work/asks.xml"
is_told() { # WORDS
    post "$url" "$work/asks.xml" >"$work/reply"
    grep -qF -- "$1" "$work/reply" && return
    cat "$work/reply"
    return 1
}
cell() { awk -F ' *[|] *' -v n="$1" '{ print $n }' <<<"$line" | tr -d '`'; }
count=0
while read -r line; do
    set_up=$(cell 2) words=$(cell 3) reason=$(cell 4) command=$(cell 5) printed=$(cell 6)
    count=$((count + 1))
    # A server that begins knows all that was changed.
    end_process "$server_pid"
    rm -f "$work/one.log"
    mend
    "break_$set_up"
    start_server one --threads 2
    claim "$set_up: the volunteer reads \"$words\"" is_told "$words"
    [ -z "${QM_SHOW:-}" ] || grep -o "reason=[^ ]*" "$work/one.log"
    claim "$set_up: the log says $reason" grep -qE "host=4242 .*reason=\"?$reason" "$work/one.log"
    # shellcheck disable=SC2046 # its words
    "$QM_BINARY_DIR/${command%% *}" --project "$project" $(sed 's/^qmctl//; s/HOST/4242/' <<<"$command") >"$work/said" 2>&1
    claim "$set_up: $command prints it" grep -qF -- "$printed" "$work/said"
done < <(sed -n '/^## 7 /,/^## 8 /p' "$QM_SOURCE_DIR/server/running.7.md" | grep '^| `')
claim "the table has rows" test "$count" -ge 12
finish
