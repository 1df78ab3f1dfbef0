#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real BOINC clients attach to new projects and compute their jobs, end to end: the project page, the
# download of application and input, the hand-out, the report. Three at once, each with a project and
# a web server of its own: nginx, Apache by FastCGI, Apache by CGI. Then the rows that BOINC's other
# daemons live on are looked at.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=lib_demo.sh
. "$(dirname "$0")/lib_demo.sh"
need curl nginx apache2 boinc boinccmd
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"

cp "$QM_BINARY_DIR/quartermaster" "$program"
began=$(date +%s)

# new_client NAME KIND GOAL: a project with jobs behind a web server of that kind, and a client on its
# way to that many acknowledged results; its process number is in $client.
new_client() {
    local name=$1 kind=$2 goal=$3 key port page
    take_port
    web_port=$port
    project=$work/$name.project
    page=http://127.0.0.1:$port
    in_project init "$project" --url "$page/test/" --name "$name" --db-name "${schema}_$name" \
        --db-user root --db-socket "$QM_TEST_SOCKET" --scheduler "$page/test_cgi/cgi"
    demo_app "$project"
    key=$(volunteer_key "$project")
    demo_jobs "$project" $((goal + 4))
    [ "$kind" = apache-cgi ] || start_server "$name"
    start_web "web_$name" "$kind" --socket "$work/$name.socket" --program "$program" || exit 1
    "$QM_SOURCE_DIR/tools/real-client" --url "$page/test/" --key "$key" --dir "$work/$name.client" \
        --goal "$goal" --seconds 120 >"$work/$name.txt" 2>&1 </dev/null &
    client=$!
    started+=("$client")
}

# check_client NAME GOAL PID: waits for its end.
check_client() {
    local name=$1 goal=$2 now bad host
    wait "$3"
    claim "$name: $goal results are acknowledged" test $? -eq 0
    sed "s/^/    $name: /" "$work/$name.txt"
    [ $failures -eq 0 ] || head -n 60 "$work/$name.client/client.log"
    claim "$name: the client complains of nothing" grep -q '^complaints: 0$' "$work/$name.txt"
    schema=qm_integration_$$_$name
    now=$(date +%s)
    claim "$name: they are over, with success" test "$(rows "SELECT COUNT(*) FROM result
        WHERE server_state = 5 AND outcome = 1 AND client_state = 5 AND exit_status = 0")" -ge "$goal"
    bad=$(rows "SELECT name FROM result WHERE server_state = 5 AND NOT
        (outcome = 1 AND stderr_out LIKE '%<stderr_txt>%lines %, words %' AND app_version_id = 1
         AND elapsed_time > 0 AND flops_estimate > 0 AND validate_state = 0
         AND sent_time BETWEEN $began AND $now AND received_time BETWEEN sent_time AND $now
         AND report_deadline = sent_time + 86400
         AND hostid = 1 AND userid = 1)")
    claim "$name: each with what was reported ($bad)" test -z "$bad"
    bad=$(rows "SELECT workunit.name FROM workunit JOIN result ON workunitid = workunit.id
        WHERE server_state = 5 AND transition_time NOT BETWEEN $began AND $now")
    claim "$name: their workunits are due for the transitioner ($bad)" test -z "$bad"
    host="userid = 1 AND rpc_seqno > 0 AND rpc_time BETWEEN $began AND $now AND domain_name <> ''
        AND p_ncpus = 4 AND p_fpops > 1e8 AND m_nbytes > 1e8 AND d_total > 1e8 AND d_free > 1e6
        AND os_name LIKE 'Linux%' AND p_vendor <> '' AND LENGTH(host_cpid) = 32
        AND external_ip_addr = '127.0.0.1' AND on_frac BETWEEN 0 AND 1"
    claim "$name: one host, and its row is sane" \
        test "$(rows "SELECT COUNT(*), SUM($host) FROM host" | tr '\t' ' ')" = "1 1"
    claim "$name: the host's jobs of today are counted" test "$(rows "SELECT n_jobs_today
        FROM host_app_version WHERE host_id = 1 AND app_version_id = 1" | grep . || echo 0)" -ge "$goal"
}

new_client nginx nginx 8
nginx=$client
new_client fcgi apache-proxy-fcgi 3
fcgi=$client
new_client cgi apache-cgi 3
cgi=$client
check_client nginx 8 "$nginx"
check_client fcgi 3 "$fcgi"
check_client cgi 3 "$cgi"
claim "nothing failed in the servers" not grep -q 'level=\(critical\|error\)' "$work"/*.log
finish
