#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules of one workunit, under many processes: three servers with four threads each behind nginx, 64
# hosts at once, workunits with three instances each that all want to go out at the same moment. Each
# rule has a campaign of its own, and the rows tell afterwards whether it was kept.
#
#   rules.sh [HAND-OUTS [KILLS [VARIANT...]]]
#
# HAND-OUTS (750) are those of each campaign. So many times in each of them one of the servers, each in
# its turn, is killed and started again a moment later (KILLS, 0). VARIANT: one-user, many-users,
# some-users, one-per-host, two-kinds, two-versions, all-rules (all of them).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
share=${1:-750} # hand-outs of one campaign
kills=${2:-0}
shift $(($# < 2 ? $# : 2))
variants=" ${*:-one-user many-users some-users one-per-host two-kinds two-versions all-rules} "
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

fills() { grep -cs event=pool_swept "$work/$1.log"; }
# shellcheck disable=SC2317 # within() calls it
filled() { [ "$(fills "$1")" -gt "${2:-0}" ]; }
# start_servers: all three, which know all jobs then; the numbers of their processes are in $pids.
start_servers() {
    local name before
    pids=()
    before=$(fills three)
    for name in one two three; do
        rm -f "$work/$name.socket"
        start_server "$name" --threads 4
        pids+=("$server_pid")
    done
    within 60 filled three "$before"
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
figure() { sed -n "s/^$1  *\([0-9.]*\).*/\1/p" "$work/$campaign.out"; }
attempts() { # beyond the first ones
    cat "$work"/{one,two,three}.log | grep -o 'attempts=[0-9]*' |
        awk -F= '{ again += $2 - 1 } END { print again + 0 }'
}
# kill_servers HAND-OUTS LOAD: while the load goes on, evenly over it; back after a moment.
kill_servers() {
    local names=(one two three) i one
    for ((i = 1; i <= kills; i++)); do
        one=$((i % 3))
        until [ "$(sent)" -ge $(($1 * i / (kills + 1))) ]; do
            runs "$2" || return 0
            sleep 0.2
        done
        kill -KILL "${pids[$one]}"
        wait "${pids[$one]}" 2>/dev/null
        [ "$kills" -gt 3 ] || say "killed after $(sent) hand-outs"
        sleep 0.5
        start_server "${names[$one]}" --threads 4
        pids[one]=$server_pid
    done
}

# campaign NAME WORKUNITS EXPECTED VIOLATIONS-QUERY [ELEMENT...] -- QMLOAD-OPTION...
campaign() {
    local expected=$3 query=$4 workunits=$2 elements=() load status before bad
    campaign=$1
    [[ $variants == *" $1 "* ]] || return 0
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
    # A server that was killed knows a part of the jobs only for some seconds.
    "$QM_BINARY_DIR/qmload" --hosts $hosts --seconds 1200 --empty $((kills > 0 ? 20 : 2)) --jobs "$work/$campaign.jobs" "$@" "$url" \
        >"$work/$campaign.out" 2>"$work/$campaign.log" &
    load=$!
    kill_servers "$expected" "$load"
    wait "$load"
    status=$?
    stop_servers
    if [ "$kills" -eq 0 ]; then
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
        "$(figure failed) failed, $(figure later) told to come later, $bad violations," \
        "attempts repeated: $(($(attempts) - before)), servers killed: $kills"
}

whole=$((share / instances))
keys=()
for ((i = 1; i <= hosts; i++)); do keys+=(--authenticator "$(printf '%032d' "$i")"); done

# Of three instances one can go out: there is one user, whose machines compete for it. The others pile
# up before what is left.
campaign one-user "$share" "$share" "SELECT workunitid FROM result WHERE hostid > 0
    GROUP BY workunitid, userid HAVING COUNT(*) > 1" \
    "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>" -- --authenticator "$account"
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
[[ $variants != *" two-kinds "* ]] ||
    claim "two-kinds: both were there" \
        test "$(rows "SELECT COUNT(DISTINCT hr_class) FROM workunit")" = 2
rows "UPDATE app SET homogeneous_redundancy = 0"

# Two versions, for two platforms.
rows "UPDATE app SET homogeneous_app_version = 1"
campaign two-versions $whole $((whole * instances)) "SELECT result.id FROM result
    JOIN workunit ON workunit.id = workunitid
    WHERE hostid > 0 AND workunit.app_version_id <> result.app_version_id" \
    -- --authenticator "$account" --platform x86_64-pc-linux-gnu --platform windows_x86_64
[[ $variants != *" two-versions "* ]] ||
    claim "two-versions: both were there" \
        test "$(rows "SELECT COUNT(DISTINCT app_version_id) FROM workunit")" = 2

# All of it at once, by one user: four kinds of machines, of which none gets two of a workunit.
rows "UPDATE app SET homogeneous_redundancy = 1"
campaign all-rules $whole $((whole * instances)) "SELECT result.id FROM result
    JOIN workunit ON workunit.id = workunitid JOIN host ON host.id = hostid
    WHERE NOT workunit.hr_class <=> $kinds OR workunit.app_version_id <> result.app_version_id
    UNION ALL SELECT workunitid FROM result WHERE hostid > 0
    GROUP BY workunitid, hostid HAVING COUNT(*) > 1" \
    "<one_result_per_host_per_wu>1</one_result_per_host_per_wu>" -- --authenticator "$account" \
    --vendor GenuineIntel --vendor AuthenticAMD \
    --platform x86_64-pc-linux-gnu --platform x86_64-pc-linux-gnu \
    --platform windows_x86_64 --platform windows_x86_64
[[ $variants != *" all-rules "* ]] ||
    claim "all-rules: all four kinds were there" test \
        "$(rows "SELECT COUNT(DISTINCT hr_class, app_version_id) FROM workunit")" = 4

claim "nothing failed in the servers" not grep -q 'level=critical\|reason=later' "$work"/*.log
finish
