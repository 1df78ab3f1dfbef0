#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qmctl why: for each of the cases of its manual page, what stands against the jobs, by how much, and
# the exit status; and that asking changes nothing.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

need mariadb
new_project ""
why() { "$QM_BINARY_DIR/qmctl" why --project "$project" "$@"; }

# One Linux host with 4 CPUs of 1 GFLOPS, 8 GB of memory and 50 GB of free disk; its user.
rows "SET sql_mode = ''; INSERT INTO host SET id = 4242, userid = 1, create_time = 1700000000,
    rpc_seqno = 5, rpc_time = UNIX_TIMESTAMP() - 3600, p_ncpus = 4, p_fpops = 1e9, m_nbytes = 8589934592,
    d_total = 1e11, d_free = 5e10, on_frac = 1, active_frac = 1, connected_frac = 1,
    p_vendor = 'GenuineIntel', p_model = 'CPU', os_name = 'Linux Debian', os_version = '12',
    misc = '{\"client_version\":\"7.20.5\"}'"

# case WORDS STATUS PATTERN [OPTION...]: exit status, and a pattern in the output.
case_is() {
    local words=$1 wanted=$2 pattern=$3 got
    shift 3
    why 4242 "$@" >"$work/said" 2>&1
    got=$?
    [ -z "${QM_SHOW:-}" ] || { echo "== $words"; cat "$work/said"; }
    if [ "$got" -eq "$wanted" ] && grep -qE -- "$pattern" "$work/said"; then
        say "ok: $words"
    else
        claim_failed "$words (exit status $got, wanted $wanted; wanted: $pattern)"
        sed 's/^/    /' "$work/said"
    fi
}
# Changes the only kind of job there is, and back.
workunits() { rows "UPDATE workunit SET $1"; }

case_is "no jobs at all" 3 'no_jobs .*There are no unsent jobs'
add_jobs 5
case_is "jobs that fit" 0 'work +CPU +5 +may be .*1: 1.00 x86_64-pc-linux-gnu .*0.28 hours'
workunits 'rsc_memory_bound = 1.6e10'
case_is "too little memory" 3 'work +CPU +5 +no +memory .*needs 14.91 GB of memory, but BOINC may use only'
workunits 'rsc_memory_bound = 1e7, rsc_disk_bound = 1e12'
case_is "too little disk space" 3 'no +disk .*needs 931.33 GB of disk space, but BOINC may use only 4[0-9.]+ GB'
rows "UPDATE host SET d_free = 0 WHERE id = 4242"
case_is "a full disk" 3 'no +disk .*needs 931.33 GB of disk space, but BOINC may use only 0'
rows "UPDATE host SET d_total = 0 WHERE id = 4242"
case_is "a disk that was never measured" 3 'no +disk_unknown .*did not say'
rows "UPDATE host SET d_total = 1e11, d_free = 5e10 WHERE id = 4242"
workunits 'rsc_disk_bound = 1e7'
case_is "no version for the platform" 3 'no +version_platform ' --platform windows_x86_64
workunits 'rsc_fpops_est = 1e15, rsc_fpops_bound = 1e17, delay_bound = 86400'
case_is "not in time" 3 'no +deadline .*1: 1.00 .*due in 24.00 hours .*11.5[78] days'
workunits 'rsc_fpops_est = 1e12, rsc_fpops_bound = 1e14, delay_bound = 604800'
# Ten days of work stored, and jobs due in seven: an old client gets none; a later one has idle processors.
rows "UPDATE user SET global_prefs = '<global_preferences><mod_time>1</mod_time><work_buf_min_days>10</work_buf_min_days></global_preferences>'"
case_is "a buffer longer than the deadline" 0 'work +CPU +5 +may be'
rows "UPDATE host SET misc = '{\"client_version\":\"6.12.34\"}' WHERE id = 4242"
case_is "a connection period longer than the deadline" 3 'work +CPU +5 +no +connection '
case_is "and whom that idles" 3 '^edf_min_queue: .* the 10.00 days .*idle .* before 7.0'
rows "UPDATE user SET global_prefs = ''"
rows "UPDATE host SET misc = '{\"client_version\":\"7.20.5\"}' WHERE id = 4242"
# Four jobs of 11.57 days that would be done just in time: whatever runs before them makes them late.
rows "UPDATE result SET server_state = 4, hostid = 4242, userid = 1,
    report_deadline = UNIX_TIMESTAMP() + 1000060 WHERE id <= 4"
rows "UPDATE workunit SET rsc_fpops_est = 1e15, rsc_fpops_bound = 1e17 WHERE id <= 4"
case_is "a queue that would be late" 3 'no +queue_deadline .*would make another miss its deadline by 1[5-8] minutes more: task job_'
rows "UPDATE workunit SET rsc_fpops_est = 1e12, rsc_fpops_bound = 1e14"
write_config "<max_wus_in_progress>1</max_wus_in_progress>"
rows "UPDATE result SET server_state = 4, hostid = 4242, userid = 1, report_deadline = UNIX_TIMESTAMP() + 1e6
    WHERE id <= 4"
case_is "limit of jobs in progress" 3 'work +CPU +1 +no +in_progress .*CPU tasks in progress on this computer: 4. The project allows 4$'
rows "UPDATE result SET server_state = 2, hostid = 0, userid = 0, report_deadline = 0"
write_config "<daily_result_quota>8</daily_result_quota>"
rows "SET sql_mode = ''; INSERT INTO host_app_version SET host_id = 4242, app_version_id = 1, max_jobs_per_day = 2,
    n_jobs_today = 8"
rows "UPDATE host SET rpc_time = UNIX_TIMESTAMP()"
case_is "daily quota" 3 'no +daily_quota .*limit of 8 a day for Work'
rows "DELETE FROM host_app_version; UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 3600"
write_config "<one_result_per_user_per_wu/>"
rows "SET sql_mode = ''; INSERT INTO result SET id = 100, workunitid = 1, appid = 1, name = 'job_1_9',
    server_state = 5, userid = 1, hostid = 7, outcome = 1"
case_is "one instance for each user" 0 'work +CPU +1 +no +one_per_user .*Your computers have already had a copy'
rows "DELETE FROM result WHERE id = 100"
write_config ""
rows "UPDATE user SET project_prefs = '<project_preferences>\n<app_id>9</app_id>\n</project_preferences>\n'"
case_is "an application that is not selected" 3 'no +app_not_selected .*you have not selected it'
rows "UPDATE user SET project_prefs = '<project_preferences>\n<no_cpu>1</no_cpu>\n</project_preferences>\n'"
case_is "CPUs that the user excludes" 3 'no +resource_excluded .*exclude tasks that use the CPU'
rows "UPDATE user SET project_prefs = ''; UPDATE app_version SET plan_class = 'cuda'"
case_is "GPU versions only" 3 'work +CPU +5 +no +version_'
rows "UPDATE app_version SET plan_class = ''; UPDATE host SET max_results_day = -1"
case_is "a host that the project has excluded" 3 'work +CPU +5 +otherwise '
rows "UPDATE host SET max_results_day = 0"
write_config "<min_sendwork_interval>7200</min_sendwork_interval>"
case_is "a request too early" 3 'too_recent .*it can get work in (35|36)[0-9]+ seconds'
write_config "<min_core_client_version>80000</min_core_client_version>"
case_is "a client that is too old" 3 'client_'
write_config ""
case_is "a captured request" 0 'assumed: the request is that of the file' \
    --request "$QM_SOURCE_DIR/tests/captures/002-after-hostid.xml"
case_is "a captured request with GPUs" 0 'work +NVIDIA +5 +no +version_resource' \
    --request "$QM_SOURCE_DIR/tests/captures/057-work-nvidia.xml"
case_is "one line for each class" 0 'may be' --each
case_is "one application" 1 'there is no application "other"' --app other
case_is "tabs" 0 $'^work\tCPU\t5\tmay be\t-\t' --tsv
case_is "JSON" 0 '^\{"app": "work", "resource": "CPU", "jobs": 5, "sent": "may be", "reason": "-"' --json
case_is "a file that is no request" 1 'equest' --request "$project/config.xml"

why 77 >"$work/said" 2>&1
claim "no such host: exit status 1" test $? -eq 1
why >/dev/null 2>&1
claim "no host: exit status 2" test $? -eq 2

# A request that brings newer preferences and another cross-project id, which the server would store.
sed 's|<mod_time>.*|<mod_time>1800000000</mod_time>|; s|<cross_project_id>.*|<cross_project_id>00000000000000000000000000000000</cross_project_id>|' \
    "$QM_SOURCE_DIR/tests/captures/015-after-server-prefs.xml" >"$work/prefs.xml"
checksums() { rows "CHECKSUM TABLE user, host, result, workunit, host_app_version, qm_host"; }
checksums >"$work/before"
case_is "newer preferences" 0 'assumed: the request is that of the file' --request "$work/prefs.xml"
checksums >"$work/after"
claim "asking changes no table" cmp -s "$work/before" "$work/after"

# Asking waits for nobody's locks and writes nothing, by the database's own word.
rows "START TRANSACTION; SELECT id FROM host FOR UPDATE; SELECT SLEEP(5)" >/dev/null &
sleep 0.3
before=$SECONDS
case_is "a host whose row is locked" 0 'may be'
claim "without waiting" test $((SECONDS - before)) -lt 3
claim "no guard row was made" test "$(rows 'SELECT COUNT(*) FROM qm_host')" = 0
wait
finish
