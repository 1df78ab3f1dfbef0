#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two server processes with four threads each behind nginx, 64 hosts at once, 5,000 jobs: each job
# goes out once, and no client hears of a deadlock.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
jobs=5000

new_project "<max_wus_to_send>0</max_wus_to_send>"
add_jobs $jobs
start_server one --threads 4
start_server two --threads 4
start_nginx "$work/one.socket" "$work/two.socket"

"$QM_BINARY_DIR/qmload" --authenticator "$account" --hosts 64 --seconds 2500 \
    --jobs "$work/load.jobs" "$url" >"$work/load.out" 2>"$work/load.log"
claim "no duplicate, no failure, no 'later'" test $? -eq 0
cat "$work/load.out"

claim "every job was received" test "$(wc -l <"$work/load.jobs")" = $jobs
claim "and is known to the database as sent" \
    test "$(rows "SELECT COUNT(*) FROM result WHERE hostid > 0 AND sent_time > 0")" = $jobs
rows "SELECT name FROM result WHERE hostid > 0 ORDER BY name" >"$work/names.database"
cut -d' ' -f1 "$work/load.jobs" | LC_ALL=C sort >"$work/names.received"
LC_ALL=C sort -o "$work/names.database" "$work/names.database"
claim "the same ones" cmp "$work/names.database" "$work/names.received"
claim "every report was booked" \
    test "$(rows "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1")" = $jobs
claim "64 machines made 64 hosts" test "$(rows "SELECT COUNT(*) FROM host")" = 64
claim "nothing failed in the servers" not grep -q 'level=critical\|reason=later' "$work"/*.log
say "attempts repeated: $(cat "$work/one.log" "$work/two.log" | grep -c 'attempts=[2-9]')"
say "requests per process: $(grep -c event=request "$work/one.log") \
$(grep -c event=request "$work/two.log")"
finish
