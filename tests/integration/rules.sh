#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules of one workunit, under many processes: three servers with four threads each behind nginx, 64
# hosts at once, workunits with three instances each that all want to go out at the same moment. Each
# rule has a campaign of its own, and the rows tell afterwards whether it was kept.
#
#   rules.sh [HAND-OUTS [kill]]
#
# HAND-OUTS (5000) are those of all campaigns together. With "kill" one of the servers is killed in
# the middle of each campaign and started again.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
total=${1:-5000}
with_kill=${2:-}
share=$((total / 6)) # hand-outs of one campaign
instances=3
hosts=64

new_project ""
# Accounts for 64 users, whose keys end in their number; a second app version, for another platform.
sql "$schema" <<SQL || exit 1
SET sql_mode = '';
INSERT INTO user (id, create_time, email_addr, name, authenticator, cross_project_id)
SELECT 1000 + seq, 1700000000, CONCAT('u', seq, '@example.org'), CONCAT('User ', seq),
    LPAD(seq, 32, '0'), LPAD(seq, 32, 'c')
FROM seq_1_to_$hosts;
INSERT INTO app_version (id, create_time, appid, version_num, platformid, plan_class, xml_doc)
SELECT 2, 1700000000, 1, 100, (SELECT id FROM platform WHERE name = 'windows_x86_64'), '', xml_doc
FROM app_version WHERE id = 1;
SQL
sockets=()
for name in one two three; do sockets+=("$work/$name.socket"); done

# start_servers: all three; the numbers of their processes are in $pids.
start_servers() {
    local name
    pids=()
    for name in one two three; do
        rm -f "$work/$name.socket"
        start_server "$name" --threads 4
        pids+=("$server_pid")
    done
}
stop_servers() {
    local pid
    for pid in "${pids[@]}"; do end_process "$pid"; done
}

# new_jobs WORKUNITS: with all their instances unsent, in place of everything there was.
new_jobs() {
    sql "$schema" <<SQL || exit 1
SET sql_mode = '';
DELETE FROM host; DELETE FROM host_app_version;
TRUNCATE result; TRUNCATE workunit;
INSERT INTO workunit (id, create_time, appid, name, xml_doc, rsc_fpops_est, rsc_fpops_bound,
    rsc_memory_bound, rsc_disk_bound, transition_time, delay_bound, min_quorum, target_nresults,
    max_error_results, max_total_results, max_success_results)
SELECT seq, 1700000000, 1, CONCAT('job_', seq), '<workunit>
</workunit>
', 1e12, 1e14, 1e7, 1e7, 2147483647, 604800, $instances, $instances, 9, 9, 9
FROM seq_1_to_$1;
INSERT INTO result (id, create_time, workunitid, server_state, name, xml_doc_in, appid, random)
SELECT ($instances * (w.seq - 1)) + i.seq, 1700000000, w.seq, 2,
    CONCAT('job_', w.seq, '_', i.seq), CONCAT('<result>
    <name>job_', w.seq, '_', i.seq, '</name>
    <wu_name>job_', w.seq, '</wu_name>
    <platform/>
</result>
'), 1, w.seq FROM seq_1_to_$1 w JOIN seq_1_to_$instances i;
SQL
}

sent() { rows "SELECT COUNT(*) FROM result WHERE hostid > 0"; }
# shellcheck disable=SC2317 # within() calls it
sent_at_least() { [ "$(sent)" -ge "$1" ]; }
figure() { sed -n "s/^$1  *\([0-9.]*\).*/\1/p" "$work/$campaign.out"; }
attempts() { # beyond the first ones
    cat "$work"/{one,two,three}.log | grep -o 'attempts=[0-9]*' |
        awk -F= '{ again += $2 - 1 } END { print again + 0 }'
}
killed() { # in the middle of the load, and back after a moment
    within 600 sent_at_least $(($1 / 2))
    kill -KILL "${pids[1]}"
    wait "${pids[1]}" 2>/dev/null
    say "killed after $(sent) hand-outs"
    sleep 0.5
    start_server two --threads 4
    pids[1]=$server_pid
}

# campaign NAME WORKUNITS EXPECTED VIOLATIONS-QUERY [ELEMENT...] -- QMLOAD-OPTION...
campaign() {
    local expected=$3 query=$4 workunits=$2 elements=() load status before bad
    campaign=$1
    shift 4
    while [ "$1" != -- ]; do
        elements+=("$1")
        shift
    done
    shift
    write_config "<max_wus_to_send>0</max_wus_to_send>" "${elements[@]}"
    new_jobs "$workunits"
    start_servers
    [ -n "${url:-}" ] || start_nginx "${sockets[@]}"
    before=$(attempts)
    "$QM_BINARY_DIR/qmload" --hosts $hosts --seconds 1200 --jobs "$work/$campaign.jobs" "$@" "$url" \
        >"$work/$campaign.out" 2>"$work/$campaign.log" &
    load=$!
    [ -z "$with_kill" ] || killed "$expected"
    wait "$load"
    status=$?
    stop_servers
    if [ -z "$with_kill" ]; then
        claim "$campaign: every request had a full answer, no job went to two" test $status -eq 0
        claim "$campaign: every job was received" test "$(wc -l <"$work/$campaign.jobs")" = "$expected"
    fi
    claim "$campaign: no job was received by two hosts" test "$(figure jobs_duplicate)" = 0
    claim "$campaign: nobody was told to come later" test "$(figure later)" = 0
    claim "$campaign: $(sent) of $expected jobs are known as sent" test "$(sent)" = "$expected"
    rows "SELECT name FROM result WHERE hostid > 0" | LC_ALL=C sort >"$work/names.database"
    cut -d' ' -f1 "$work/$campaign.jobs" | LC_ALL=C sort >"$work/names.received"
    claim "$campaign: the same ones that were received" \
        cmp "$work/names.database" "$work/names.received"
    bad=$(rows "SELECT COUNT(*) FROM ($query) AS violation")
    claim "$campaign: $bad violations" test "$bad" = 0
    say "$campaign: $expected hand-outs, $(figure elapsed) s, $(figure requests) requests," \
        "$(figure failed) failed, attempts repeated: $(($(attempts) - before))"
}

whole=$((share / instances))
keys=()
for ((i = 1; i <= hosts; i++)); do keys+=(--authenticator "$(printf '%032d' "$i")"); done

# Of three instances one can go out: there is one user, whose machines compete for it. The others pile
# up before what is left, and a server looks behind thousands of them only, so the campaign is
# made in parts.
for ((left = share; left > 0; left -= part)); do
    part=$((left < 1000 ? left : 1000))
    campaign one-user $part $part "SELECT workunitid FROM result WHERE hostid > 0
        GROUP BY workunitid, userid HAVING COUNT(*) > 1" \
        "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>" -- --authenticator "$account"
done
campaign many-users $whole $((whole * instances)) "SELECT workunitid FROM result WHERE hostid > 0
    GROUP BY workunitid, userid HAVING COUNT(*) > 1" \
    "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>" -- "${keys[@]}"
# Four machines each: these race for the instances of a workunit, and other users get the rest.
campaign some-users $whole $((whole * instances)) "SELECT workunitid FROM result WHERE hostid > 0
    GROUP BY workunitid, userid HAVING COUNT(*) > 1" \
    "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>" -- "${keys[@]:0:hosts/2}"
campaign one-per-host $whole $((whole * instances)) "SELECT workunitid FROM result WHERE hostid > 0
    GROUP BY workunitid, hostid HAVING COUNT(*) > 1" \
    "<one_result_per_host_per_wu>1</one_result_per_host_per_wu>" -- --authenticator "$account"

# Two kinds of machines, and the class that a workunit is committed to is that of its hosts.
rows "UPDATE app SET homogeneous_redundancy = 1"
kinds="CASE host.p_vendor WHEN 'AuthenticAMD' THEN 259 WHEN 'GenuineIntel' THEN 258 END"
campaign two-kinds $whole $((whole * instances)) "SELECT result.id FROM result
    JOIN workunit ON workunit.id = workunitid JOIN host ON host.id = hostid
    WHERE NOT workunit.hr_class <=> $kinds" \
    -- --authenticator "$account" --vendor GenuineIntel --vendor AuthenticAMD
claim "two-kinds: both were there" test "$(rows "SELECT COUNT(DISTINCT hr_class) FROM workunit")" = 2
rows "UPDATE app SET homogeneous_redundancy = 0"

# Two versions, for two platforms.
rows "UPDATE app SET homogeneous_app_version = 1"
campaign two-versions $whole $((whole * instances)) "SELECT result.id FROM result
    JOIN workunit ON workunit.id = workunitid
    WHERE hostid > 0 AND workunit.app_version_id <> result.app_version_id" \
    -- --authenticator "$account" --platform x86_64-pc-linux-gnu --platform windows_x86_64
claim "two-versions: both were there" \
    test "$(rows "SELECT COUNT(DISTINCT app_version_id) FROM workunit")" = 2

claim "nothing failed in the servers" not grep -q 'level=critical\|reason=later' "$work"/*.log
finish
