#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The database stops, is killed, and comes back, with clients asking all the time: every reply is
# valid, nothing acknowledged is lost, no job goes out twice, and the server finds its way back.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadbd

database=$work/db # of our own, since it is to be killed
QM_TEST_SOCKET=$database/socket
start_database() { "$QM_SOURCE_DIR/tools/private-mariadb" start "$database"; }
stop_database() { "$QM_SOURCE_DIR/tools/private-mariadb" stop "$database"; }
start_database || exit $?
trap 'stop_database; clean_up' EXIT

figure() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/load.json"; }

new_project ""
add_host
add_jobs 8000
stop_database

start_server one --threads 4
start_nginx "$work/one.socket"
claim "started without a database, the project is down" reply_has '<project_is_down/>'
claim "for a minute at first" reply_has '<request_delay>60[.<]'
# shellcheck disable=SC2317 # claim() calls it
away_for() { curl -s "$url/metrics" | grep -qE "^quartermaster_database_away_seconds $1"; }
claim "the server knows how long it has been away" within 5 away_for '[1-9]'
start_database
claim "it finds the database by itself" within 20 reply_has '<userid>1</userid>'
# A request is noted behind its reply.
claim "and counts no longer" within 5 away_for '0$'

"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 8 --time 12 --seconds 500 --json \
    --quiet --jobs "$work/load.jobs" "$url" >"$work/load.json" 2>"$work/load.log" &
load=$!
sleep 1.5
stop_database
claim "stopped under load: down" reply_has '<project_is_down/>'
start_database
claim "started: full replies" within 20 reply_has '<userid>1</userid>'
sleep 1
killed=$(cat "$database/pid")
kill -KILL "$killed"
within 10 ended "$killed"
claim "killed under load: down" reply_has '<project_is_down/>'
start_database
claim "started: full replies" within 20 reply_has '<userid>1</userid>'
wait "$load"
cat "$work/load.json"

claim "no reply was broken" test "$(figure failed)" = 0
claim "some said down" test "$(figure down)" -gt 0
claim "no report went without its ack" test "$(figure missing_acks)" = 0
claim "no job went to two hosts" test "$(figure jobs_duplicate)" = 0
claim "jobs were sent" test "$(figure jobs)" -gt 100
over=$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1")
claim "all acknowledged reports are in the database ($(figure acked), $over)" \
    test "$over" -ge "$(figure acked)"
finish
