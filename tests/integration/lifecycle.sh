#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an administrator does to a running server: stop it under load, rotate its log, change its
# configuration for better and for worse, close the project, add a platform. Nobody gets a broken
# reply meanwhile.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

new_project "<catalog_refresh>3600</catalog_refresh>"
add_host
add_jobs 3000
start_server one --threads 4
one=$server_pid
start_server two --threads 4
two=$server_pid
start_nginx "$work/one.socket" "$work/two.socket"
claim "a full reply at first" reply_has '<userid>1</userid>'

# --- a process manager may close what is not the listening socket
"$program" --project "$project" --listen "unix:$work/closed.socket" </dev/null >&- 2>&- &
closed=$!
started+=("$closed")
within 15 test -S "$work/closed.socket"
claim "closed standard output and error stay nobody's" \
    test "$(readlink /proc/$closed/fd/1 /proc/$closed/fd/2 | sort -u)" = /dev/null
end_process "$closed"

# --- a stop under load: requests under way are finished, newcomers go to the other process
"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 16 --time 6 --seconds 2000 "$url" \
    >"$work/load.out" 2>"$work/load.log" &
load=$!
within 10 log_has one 'reply=full.*sent='
within 10 log_has two 'reply=full.*sent='
sleep 0.5
kill -TERM "$one"
claim "one process ends under load" within 20 ended "$one"
wait "$one"
claim "with exit status 0" test $? -eq 0
claim "and takes its socket away" not test -e "$work/one.socket"
claim "while the load goes on" runs "$load"
start_server one --threads 4
one=$server_pid
wait "$load"
claim "no request failed, no job went out twice" test $? -eq 0
cat "$work/load.out"

# --- a second start on the same socket is refused while somebody listens there
"$program" --project "$project" --listen "unix:$work/one.socket" 2>"$work/second.log"
claim "a second process refuses a socket in use" test $? -eq 1
claim "and says so" log_has second 'another process listens'

# --- a socket file that a killed process left is replaced
kill -KILL "$two"
wait "$two" 2>/dev/null # the shell tells of it
claim "a killed process leaves its socket file" test -S "$work/two.socket"
claim "replies go on without it" reply_has '<userid>1</userid>'
start_server two --threads 4
two=$server_pid
within 5 log_has two 'event=started'
claim "the next one replaces it" runs "$two"
end_process "$two"

# --- rotation
mv "$work/one.log" "$work/one.log.1"
kill -HUP "$one"
claim "SIGHUP begins a new log" within 5 test -s "$work/one.log"

# --- configuration
write_config "<long_name>Changed</long_name>" "<catalog_refresh>3600</catalog_refresh>"
claim "a changed configuration is taken" within 10 reply_has '<project_name>Changed</project_name>'
write_config "<long_name>Wrong</long_name>" "<threads>many</threads>"
claim "a wrong one is refused" within 10 log_has one 'event=config_refused'
claim "with file and line" log_has one 'config_finding.*config.xml.*line='
claim "and the old one stays" reply_has '<project_name>Changed</project_name>'
write_config "<long_name>Mended</long_name>" "<catalog_refresh>3600</catalog_refresh>"
claim "a mended one is taken" within 10 reply_has '<project_name>Mended</project_name>'

# --- plan classes
printf '<plan_classes>\n<plan_class>\n<name/>\n</plan_class>\n</plan_classes>\n' \
    >"$project/plan_class_spec.xml"
claim "faulty plan classes are refused with their line" within 10 \
    log_has one 'plan_classes_refused.*plan_class_spec.xml: line 4'
sed 's|<name/>|<name>ours</name>|' "$project/plan_class_spec.xml" >"$project/spec.new"
mv "$project/spec.new" "$project/plan_class_spec.xml"
claim "mended ones are taken" within 10 log_has one 'event=keys_loaded.*plan_classes=1'
rm "$project/plan_class_spec.xml"

# --- trigger files
touch "$project/stop_sched"
claim "stop_sched closes the project" within 10 reply_has '<project_is_down/>'
rm "$project/stop_sched"
claim "and opens it again" within 10 reply_lacks '<project_is_down/>'

sed -i 's|<platform_name>.*</platform_name>|<platform_name>m68k-unknown-linux-gnu</platform_name>|;
        /<alt_platform>/,/<\/alt_platform>/d' "$request"
claim "a new platform is unknown" reply_has 'm68k-unknown'
rows "SET sql_mode = ''; INSERT INTO platform SET create_time = 1700000000,
      name = 'm68k-unknown-linux-gnu', user_friendly_name = 'm68k'"
claim "and stays so for a while" reply_has 'm68k-unknown'
touch "$project/reread_db"
claim "reread_db makes it known" within 10 reply_lacks 'm68k-unknown'
claim "and is gone" within 5 not test -e "$project/reread_db"
# How often it was acted on. The catalog is read anew only an hour later without it.
rereads() { grep -c 'event=reread_db$' "$work/one.log"; }
# shellcheck disable=SC2317 # within() calls it
read_again() { test "$(rereads)" -gt "$before"; }
before=$(rereads)
mkdir "$project/reread_db" # what cannot be removed
claim "one that cannot be removed is told" within 10 log_has one 'reread_db_not_removed'
sleep 2
claim "and read for only once" test "$(rereads)" -eq $((before + 1))
rmdir "$project/reread_db"
before=$(rereads)
"$QM_BINARY_DIR/qmctl" --project "$project" app add fresh >"$work/qmctl.log" 2>&1
claim "an application that qmctl adds is read at once" within 10 read_again
before=$(rereads)
"$QM_BINARY_DIR/qmctl" --project "$project" app add fresher >"$work/qmctl.log" 2>&1
claim "and another one just after it" within 10 read_again
claim "the file goes" within 5 not test -e "$project/reread_db"
first_pid=$server_pid
start_server beside --threads 1
"$QM_BINARY_DIR/qmctl" --project "$project" app add freshest >"$work/qmctl.log" 2>&1
claim "a second process reads it too" within 10 log_has beside 'event=reread_db$'
end_process "$server_pid"
server_pid=$first_pid

# --- keys
sed -i '/<code_sign_key>/,/<\/code_sign_key>/d; s|<dont_send_work>1|<dont_send_work>0|;
        s|<cpu_req_secs>.*<|<cpu_req_secs>1<|' "$request"
claim "the key is sent" reply_has '^1024$'
sed -i 's/^1024$/1023/' "$project/keys/code_sign_public"
claim "a changed key is read" within 10 reply_has '^1023$'

end_process "$one"
claim "the end was clean" log_has one 'event=stopped'
finish
