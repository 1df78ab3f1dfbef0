#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A project without BOINC's transitioner, in virtual time: a host lets a job time out, another gets
# it, the first comes after all. Then many jobs at once, two commands side by side, and a bad
# template.
# shellcheck disable=SC2317 # claim and within call them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
start=2000000000

echo data >"$work/in"
new_project "<upload_url>http://127.0.0.1/test/upload</upload_url>"
"$QM_BINARY_DIR/qmctl" --project "$project" jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
    --out "$QM_SOURCE_DIR/templates/simple_out.xml" "$work/in" >/dev/null 2>"$work/no_folder.log"
claim "without download_dir no file goes anywhere" grep -q "config.xml has no download_dir" "$work/no_folder.log"
write_config "<upload_url>http://127.0.0.1/test/upload</upload_url>" "<download_dir>$project/download</download_dir>" \
    "<daily_result_quota>10</daily_result_quota>" "<min_sendwork_interval>0</min_sendwork_interval>"
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
create() {
    qmctl jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
        --out "$QM_SOURCE_DIR/templates/simple_out.xml" "$@"
}

# transition MOMENT [OPTION...]: a JSON object of what was done, in $figures.
transition() {
    local moment=$1
    shift
    figures=$(qmctl transition --now "$moment" --json "$@" 2>>"$work/transition.log")
}
# did NAME NUMBER...: these figures, and 0 in all others.
did() {
    local wanted='{"jobs": 0, "timed_out": 0, "made": 0, "not_needed": 0, "to_validate": 0, "accepted": 0, "valid": 0, "invalid": 0, "undecided": 0, "to_assimilate": 0, "assimilated": 0, "deferred": 0, "files_deleted": 0, "given_up": 0, "put_off": 0}'
    while [ $# -gt 0 ]; do
        # shellcheck disable=SC2001 # a pattern
        wanted=$(sed "s/\"$1\": 0/\"$1\": $2/" <<<"$wanted")
        shift 2
    done
    [ "$figures" = "$wanted" ] || {
        say "$figures"
        return 1
    }
}
column() { rows "SELECT $1 FROM result WHERE name = '$2'"; }

# ask HOST MOMENT: a request for work of a machine of that name; the reply in $work/HOST.
ask() {
    sed -e "s|<host_cpid>.*</host_cpid>|<host_cpid>$(printf '%s' "$1" | md5sum | cut -c1-32)</host_cpid>|" \
        -e "s|<domain_name>.*</domain_name>|<domain_name>$1</domain_name>|" \
        -e "s|<hostid>.*</hostid>|<hostid>$(id_of "$1")</hostid>|" \
        -e "s|<rpc_seqno>.*</rpc_seqno>|<rpc_seqno>$2</rpc_seqno>|" \
        "$QM_SOURCE_DIR/tests/captures/021-attach-with-work.xml" >"$work/$1.request"
    post "$url" "$work/$1.request" -H "X-Simulated-Time: $2" >"$work/$1"
}
id_of() {
    local id
    id=$(rows "SELECT id FROM host WHERE domain_name = '$1'")
    echo "${id:-0}"
}
gets() { # HOST MOMENT RESULT
    ask "$1" "$2"
    grep -q "<name>$3</name>" "$work/$1"
}
# report HOST MOMENT RESULT: a success.
report() {
    cat >"$work/report" <<XML
<scheduler_request>
<authenticator>$account</authenticator>
<hostid>$(id_of "$1")</hostid>
<rpc_seqno>$2</rpc_seqno>
<core_client_major_version>7</core_client_major_version>
<core_client_minor_version>20</core_client_minor_version>
<core_client_release>5</core_client_release>
<platform_name>x86_64-pc-linux-gnu</platform_name>
<result>
    <name>$3</name>
    <final_cpu_time>10</final_cpu_time>
    <final_elapsed_time>10</final_elapsed_time>
    <exit_status>0</exit_status>
    <state>5</state>
    <platform>x86_64-pc-linux-gnu</platform>
    <version_num>100</version_num>
</result>
</scheduler_request>
XML
    post "$url" "$work/report" -H "X-Simulated-Time: $2" | grep -A1 '<result_ack>' | grep -q "<name>$3</name>"
}

# --- a job times out and is done twice
create --name job "$work/in" >/dev/null
claim "a job with its result needs no transition before a host has it" test \
    "$(rows "SELECT transition_time > UNIX_TIMESTAMP() FROM workunit WHERE name = 'job'")" = 1
start_server server --clock=request
start_nginx "$work/server.socket"
claim "the first host gets the job" within 10 gets first $start job_0
deadline=$(column report_deadline job_0)
transition "$deadline"
claim "until its deadline it has the time" did jobs 1
transition "$deadline"
claim "the deadline itself is looked at again" did jobs 1
transition $((deadline + 1))
claim "behind it the job goes on" did jobs 1 timed_out 1 made 1
claim "the time-out is counted" test "$(rows "SELECT SUM(results) FROM qm_fate WHERE fate = 5")" = 1
claim "it counts as no reply" test "$(column 'server_state, outcome, received_time' job_0)" = $'5\t4\t0'
claim "the host may have fewer jobs a day" \
    test "$(rows "SELECT max_jobs_per_day FROM host_app_version")" = 8 # it began with 9, untried_quota
transition $((deadline + 2))
claim "once" did
claim "the new result has files of its own, signed" test "$(rows "SELECT COUNT(*) FROM result
    WHERE name = 'job_1' AND xml_doc_in LIKE '%<name>job\\_1\\_r%\\_0</name>%'
    AND xml_doc_in LIKE '%<xml_signature>%' AND appid = 1")" = 1
claim "another host gets it" within 10 gets second $((deadline + 3)) job_1

claim "the first one comes after all" report first $((deadline + 10)) job_0
claim "and is taken" test "$(column 'outcome, received_time' job_0)" = "1"$'\t'"$((deadline + 10))"
transition $((deadline + 11))
claim "a validator may look at it" did jobs 1 to_validate 1
claim "the second host comes too" report second $((deadline + 20)) job_1
transition $((deadline + 21)) --trust
claim "without a validator that is the answer" did jobs 1 accepted 1 valid 2 to_assimilate 1
claim "of both" test "$(rows "SELECT SUM(validate_state = 1), canonical_resultid = MIN(result.id),
    need_validate, transition_time FROM result JOIN workunit ON workunit.id = workunitid")" = \
    "2"$'\t'"1"$'\t'"0"$'\t'"2147483647"

# --- a job made without a word of losses survives one
# By the clock of requests a server sees new jobs within ten minutes (server/pool/fill.h).
moment=$((deadline + 1000))
grep -v '<max_' "$QM_SOURCE_DIR/tools/demo/in.xml" >"$work/one_in.xml"
qmctl jobs create --app work --in "$work/one_in.xml" --out "$QM_SOURCE_DIR/templates/simple_out.xml" --name plain \
    "$work/in" >/dev/null 2>&1
claim "a host gets it" within 10 gets fifth "$moment" plain_0
transition $(($(column report_deadline plain_0) + 1))
claim "and loses it: another is made" did jobs 1 timed_out 1 made 1
rows "DELETE FROM result WHERE name LIKE 'plain%'; DELETE FROM workunit WHERE name = 'plain'"

# --- adaptive replication: a job that may have one instance, of a host that nobody knows
# Apps are read by the real clock, each minute, and at the start.
rows "UPDATE app SET target_nresults = 2"
end_process "$server_pid"
rm -f "$work/server.socket"
start_server server --clock=request
qmctl jobs create --app work --in "$work/one_in.xml" --out "$QM_SOURCE_DIR/templates/simple_out.xml" --name alone \
    --max_total_results 1 --max_error_results 1 "$work/in" >/dev/null 2>&1
claim "an unknown host gets it" within 10 gets third "$moment" alone_0
claim "it wants two results, and may have them" test "$(rows "SELECT target_nresults, min_quorum, max_total_results,
    max_success_results FROM workunit WHERE name = 'alone'")" = $'2\t2\t2\t2'
claim "its success comes" report third $((moment + 100)) alone_0
transition $((moment + 200)) --trust
claim "the other instance is made, nothing is given up" did jobs 1 made 1
claim "another host gets that" within 10 gets fourth $((moment + 1300)) alone_1
claim "and computes it" report fourth $((moment + 1400)) alone_1
transition $((moment + 1500)) --trust
claim "so it has its answer" did jobs 1 to_validate 1 accepted 1 valid 2 to_assimilate 1
rows "UPDATE app SET target_nresults = 0"

# --- many at once, and two that cannot be done: a template that is not there, a name that is taken
seq -f "--wu_name many_%.0f $work/in" 3000 >"$work/lines"
create --transitioner --stdin --quiet <"$work/lines" >/dev/null
rows "SET sql_mode = ''; UPDATE workunit SET result_template_file = 'templates/none.xml'
    WHERE name = 'many_7'; INSERT INTO result SET name = 'many_2000_0', workunitid = 1, server_state = 5"
moment=$((deadline + 90000))
transition "$moment" --limit 5
claim "no more than asked for are looked at" did jobs 5 made 5
for side in left right; do
    qmctl transition --now "$moment" --json >"$work/$side.json" 2>"$work/$side.log" &
    sides+=($!)
done
wait "${sides[@]}"
cat "$work/left.json" "$work/right.json"
claim "two commands share the work" test "$(cat "$work"/{left,right}.json | grep -oE '"made": [0-9]+' |
    awk '{ sum += $2 } END { print sum }')" = 2993
claim "each job has one result" test "$(rows "SELECT COUNT(*), COUNT(DISTINCT workunitid) FROM result
    WHERE name LIKE 'many\\_%\\_0' AND server_state = 2")" = $'2998\t2998'
claim "the template is named" grep -q 'templates/none.xml' "$work/left.log" "$work/right.log"
claim "and so is the job" grep -q "Duplicate entry 'many_2000_0'" "$work/left.log" "$work/right.log"
claim "both are put off" test "$(rows "SELECT MIN(transition_time), MAX(transition_time) FROM workunit
    WHERE name IN ('many_7', 'many_2000')")" = $((moment + 600))$'\t'$((moment + 600))
transition $((moment + 1))
claim "nothing more is due" did

qmctl transition --loop 1 --now 5 >/dev/null 2>&1
claim "a loop goes by the clock" test $? -eq 2

# --- as a service
"$QM_BINARY_DIR/qmctl" --project "$project" transition --loop 1 >"$work/loop.log" 2>&1 &
started+=($!)
create --transitioner --name served "$work/in" >/dev/null
is_served() { [ -n "$(column id "${1:-served}_0")" ]; }
claim "a new job gets its result soon" within 20 is_served

# --- whose hourly look takes long: what it finds cannot be written, until the database has it give up
end_process "$server_pid"
rows "DELETE FROM qm_figures"
rows "LOCK TABLES qm_figures WRITE; SELECT SLEEP(1000)" >"$work/locker.log" 2>&1 &
started+=($!)
locker() { rows "SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)' AND db = '$schema'"; }
locks() { [ -n "$(locker)" ]; }
claim "figures are locked" within 10 locks
look() { rows "UPDATE qm_duty SET due = 0 WHERE name = 'stuck jobs'"; }
waiter() { rows "SELECT id FROM information_schema.processlist WHERE db = '$schema' AND state LIKE 'Waiting for table%'"; }
waits() { [ -n "$(waiter)" ]; }
goes_on_meanwhile() {
    local one
    number=$((${number:-0} + 1))
    look
    within 5 waits
    one=$(waiter) # a connection for each look
    create --transitioner --name "meanwhile_$number" "$work/in" >/dev/null && within 5 is_served "meanwhile_$number" &&
        [ -n "$one" ] && [ "$(waiter)" = "$one" ]
}
claim "a look that waits keeps no job from its result" within 120 goes_on_meanwhile
rows "KILL $(locker)"
has_looked() { [ "$(rows "SELECT COUNT(*) FROM qm_figures")" = 2 ]; }
looks_again() { look && within 5 has_looked; }
claim "and writes what it found when it can" within 60 looks_again
finish
