#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qmctl status sees what is up and what is not, each by itself; and what the pages show of the past and of
# the project outlives the process that shows it.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

need curl nginx mariadb
take_port
web_port=$port
given=("<download_dir>$work/p/download</download_dir>" "<download_url>http://127.0.0.1/test/download</download_url>"
    "<upload_dir>$work/p/upload</upload_dir>" "<upload_url>http://127.0.0.1/test/file_upload_handler</upload_url>")
new_project "${given[@]}"
"$QM_BINARY_DIR/qmctl" init "$work/keys_of" --url http://127.0.0.1/x/ --name X --db-name "$schema" \
    --db-socket "$QM_TEST_SOCKET" --db-user root >"$work/keys.log" # whose keys belong together
cp -a "$work/keys_of/keys" "$project/"
add_jobs 3
status() { "$QM_BINARY_DIR/qmctl" status --project "$project" "$@" >"$work/said" 2>&1; }
# claim_status WORDS EXIT-STATUS PATTERN [OPTION...]
claim_status() {
    local words=$1 wanted=$2 pattern=$3 got
    shift 3
    status "$@"
    got=$?
    [ "$got" -eq "$wanted" ] && grep -qE -- "$pattern" "$work/said" && say "ok: $words" && return
    claim_failed "$words (exit status $got, wanted $wanted; wanted: $pattern)"
    cat "$work/said"
}

start_nginx "$work/one.socket" # of which only the page and the files are needed at first
claim_status "no server needs to run" 0 '^queue +work +ok +3 unsent, 0 in progress, 0 over'
claim_status "no host has come" 0 '^hosts +- +ok +none has asked yet'
start_server one --threads 2
claim_status "a scheduler that answers" 0 "^scheduler +$url +ok +answers in [0-9]+ ms" --url "$url"
# A copy of the project has the same URL, and another database: what answers is not its own.
copy=${schema}_copy
rows "CREATE DATABASE $copy"
for table in $(rows "SHOW TABLES"); do
    rows "CREATE TABLE $copy.$table LIKE $schema.$table; INSERT INTO $copy.$table SELECT * FROM $schema.$table"
done
rows "UPDATE $copy.qm_server SET beat = beat - 3600"
cp -a "$project" "$work/copy"
sed -i "s|<db_name>$schema<|<db_name>$copy<|" "$work/copy/config.xml"
"$QM_BINARY_DIR/qmctl" status --project "$work/copy" --url "$url" >"$work/said" 2>&1
claim "of a copy, the original's server is another's" grep -qE '^scheduler .*FAILED +a server of another database answers' "$work/said"
rows "DROP DATABASE $copy"
cp "$project/config.xml" "$work/copy/config.xml"
sed -i 's|</config>||' "$work/copy/config.xml"
"$QM_BINARY_DIR/qmctl" status --project "$work/copy" --url "$url" >"$work/said" 2>&1
claim "a config.xml that cannot be read to its end is said" grep -qE '^check +config +FAILED .*tag mismatch' "$work/said"
claim "and does not hide the database" grep -qE "^database +$schema +ok +can be reached with the options in config.xml" "$work/said"
claim "nor the queue" grep -qE '^queue +work +ok +3 unsent' "$work/said"
claim "nor the scheduler" grep -qE "^scheduler +$url +ok +answers in" "$work/said"
claim_status "something else" 1 'FAILED +(something else answers|HTTP status 404: a web server answers)' --url "${url%_cgi/cgi}/nothing"
claim_status "by config.xml" 1 'FAILED +' --url "http://127.0.0.1:1/cgi"
claim_status "other files than by HTTP are not read" 1 'FAILED +' --url "file:///etc/passwd"
write_config "${given[@]}" "<scheduler_url>$url</scheduler_url>"
add_host
rows "UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 30"
claim_status "a host that came" 0 '^hosts +- +ok +the last asked 3[0-9] s ago; in the last hour 1'
claim_status "for programs" 0 '"what": "scheduler", .*"state": "ok"' --json
claim_status "the master page" 0 "^master page +http://127.0.0.1:$web_port/test/ +ok +correct"
mv "$project/html/user/index.html" "$work/"
claim_status "no master page" 1 '^master page .* FAILED +clients do not find the project by .* \(master_url\): HTTP status 403'
echo "<scheduler>http://other.example.org/cgi</scheduler>" >"$project/html/user/index.html"
claim_status "another scheduler on the master page" 1 \
    "it names the scheduler http://other.example.org/cgi, and scheduler_url is $url"
mv "$work/index.html" "$project/html/user/"
# A page as of a server whose pool does not hear of new jobs.
echo "This is the scheduler of Integration.

State: ok
quartermaster_recent_replies 20
quartermaster_recent_replies_down 0
quartermaster_recent_replies_later 0
quartermaster_pool_lag_seconds 130.2" >"$project/html/user/lagging.html"
claim_status "a pool that hears of no new jobs" 1 '^pool +.* FAILED +new jobs were last read 130 s ago' \
    --url "${url%_cgi/cgi}/lagging.html?x"
sed -i 's/130.2/119/' "$project/html/user/lagging.html"
claim_status "less than the pause of a host that got none" 0 'new jobs are seen after 119' --url "${url%_cgi/cgi}/lagging.html?x"
sed -i 's/recent_replies 20/recent_replies 0/; /pool_lag/d' "$project/html/user/lagging.html"
claim_status "figures of nothing" 0 '^replies +.* ok +no requests in the last 10 minutes$' --url "${url%_cgi/cgi}/lagging.html?x"
rows "UPDATE host SET avg_turnaround = -7200"
claim_status "a clock that was set back" 0 '^database +[^ ]+ +warning +hosts with a negative turnaround, because a clock was set back: 1'
rows "UPDATE host SET avg_turnaround = 0"
rows "SET sql_mode = ''; INSERT INTO workunit (id, appid, name, transition_time) VALUES (901, 77, 'no_app', 2147483647),
    (902, 1, 'no_host', 2147483647); INSERT INTO assignment (target_id, target_type, workunitid) VALUES (99999, 1, 902)"
claim_status "jobs of an application that is gone" 1 '^check +jobs +FAILED +unfinished jobs of an application that does not exist: 1;'
claim_status "jobs for a host that is gone" 1 '^check +jobs +FAILED +jobs for hosts, users or teams that do not exist: 1 '
rows "DELETE FROM workunit WHERE id IN (901, 902); DELETE FROM assignment WHERE workunitid = 902"
# --- drained
sed -i '/<dont_send_work>/d; s|<work_req_seconds>[^<]*<|<work_req_seconds>100<|; s|<cpu_req_secs>[^<]*<|<cpu_req_secs>100<|' "$request"
claim "a project that is not drained does not say so" reply_lacks 'sends no jobs at the moment'
"$QM_BINARY_DIR/qmctl" drain --project "$project" >"$work/drained"
claim "a drained project sends none" within 3 reply_has 'sends no jobs at the moment'
claim_status "drained" 1 '^stop_work +- +FAILED +the project is drained'
"$QM_BINARY_DIR/qmctl" resume --project "$project" >"$work/drained"
claim "after that it does not say so any more" within 3 reply_lacks 'sends no jobs at the moment'

touch "$project/stop_sched"
claim_status "stop_sched" 1 '^stop_sched +- +FAILED'
rm "$project/stop_sched"
end_process "$server_pid"
claim_status "a server that is gone" 1 "^scheduler .*FAILED +no server process"

# --- pages: a server that has just begun knows what the one before has seen, and another beside it is known
# shellcheck disable=SC2317 # within() calls it
page_has() { # PAGE PATTERN
    kill -HUP "$server_pid" && curl -s "$url/$1" | sed 's/ data-label="[^"]*"//g' >"$work/$1.html" &&
        grep -qE -- "$2" "$work/$1.html"
}
asked=$(rows "SELECT REPLACE(figures, '\n', ' ; ') FROM qm_figures WHERE kind = 'slot'" |
    grep -oE '; requests [0-9]+' | awk '{ sum += $3 } END { print sum }')
claim "a server leaves what it has counted" test "${asked:-0}" -ge "$(wc -l <"$work/replies")"
rows "SET sql_mode = ''; INSERT INTO batch SET name = 'one & all'; UPDATE workunit SET batch = LAST_INSERT_ID()"
start_server two --threads 2
one_pid=$server_pid
start_server three --threads 2
web_port='' # another
start_nginx "$work/three.socket"
claim "what was counted before is on the page" within 20 page_has status \
    "<th scope=\"row\">requests processed</th><td>[^<]*</td><td>$asked</td><td>$asked</td><td>0</td>"
claim "both processes are" within 20 page_has status ":$one_pid</th><td>"
claim "and which one answers" within 20 page_has status ":$server_pid [(]this one[)]</th><td>"
claim "the title says how it is" page_has status '<title>(OK|[0-9]+ (note|problem)s?): Integration [(]Server[)]</title>'
rows "UPDATE qm_duty SET due = 0"
claim "the project's jobs are counted, and its batches" within 20 page_has project '[0-9]+ one &amp; all</th><td class="left">work</td><td>3</td>'
claim "jobs by state" page_has project "<th scope=\"row\">results unsent</th><td>$(rows "SELECT COUNT(*) FROM result WHERE server_state = 2")</td>"
in_progress=$(rows "SELECT COUNT(*) FROM result WHERE server_state = 4")
claim "those in progress too" page_has project "<th scope=\"row\">results in progress</th><td>$in_progress</td>"
claim "disks are" page_has project ', downloads</th><td>[0-9.,]+ .iB</td>'
start_uploads
claim "the upload handler is known" within 40 page_has status 'The upload handler last reported [0-9.]+ (s|ms) ago'
end_process "$uploads_pid"
end_process "$one_pid"
end_process "$server_pid"
write_config "${given[@]}" "<dont_send_jobs/>" "<db_name>nowhere_at_all</db_name>"
claim_status "no database" 1 '^database +nowhere_at_all +FAILED'
finish
