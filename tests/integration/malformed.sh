#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Thousands of requests that no client would write, behind a real web server: cut short at every byte,
# every byte changed, hostile text and numbers in every element that the server reads, huge and deep
# bodies, entities. Each gets a reply that a client can read; the server lives on, its memory is
# bounded, a sanitizer has nothing to say, and the database holds what was there and what was sent.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx

hostile=$QM_BINARY_DIR/tests/hostile
captures=$QM_SOURCE_DIR/tests/captures
sql_text="x'); UPDATE user SET total_credit = 666; DROP TABLE result; -- \"\\"
secret=$work/secret
echo "secret-of-the-server" >"$secret"
chmod 644 "$secret"
# Every third offset, and every seventh under a sanitizer, in its ten times longer time: primes, so that no pattern is
# missed. All of them: QM_MALFORMED_STEP=1.
step=3
[ -z "${QM_SANITIZED:-}" ] || step=7
step=${QM_MALFORMED_STEP:-$step}

new_project "<request_memory_max>67108864</request_memory_max>"
add_host
add_jobs 600
rows "UPDATE result SET server_state = 4, hostid = 4242, userid = 1, sent_time = UNIX_TIMESTAMP(),
      report_deadline = UNIX_TIMESTAMP() + 604800"
tables() { rows "SHOW TABLES"; }
tables >"$work/tables.before"
# What no request may change: the whole row, or the columns that only others write.
untouched() {
    rows "SELECT name, email_addr, authenticator, create_time, total_credit, teamid FROM user;
          SELECT * FROM app; SELECT * FROM app_version; SELECT * FROM platform;
          SELECT id, name, xml_doc, appid, rsc_fpops_est, delay_bound, hr_class FROM workunit;
          SELECT id, name, xml_doc_in, workunitid, appid FROM result"
}
untouched >"$work/rows.before"

memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$server_pid/status"; } # kB
start_server one --threads 2
start_nginx "$work/one.socket"

# run WORDS ARGUMENT...
run() {
    local words=$1
    shift
    claim "$words: every reply can be read" "$hostile" "$url" "$@"
}
round() { # the requests whose memory is compared, in each round the same
    run "numbers" numbers
    run "texts" texts "$sql_text"
}

say "memory at the start: $(memory VmRSS) kB"
run "cut, a report" cut "$captures/067-report-max-2.xml" "$step" &
cut=$!
run "cut, a trickle" cut "$captures/047-trickle-up-first.xml" "$step"
wait $cut || failures=$((failures + 1))
run "cut, a full queue" cut "$captures/137-workload-nvidia-ati-intel-v8.xml" "$step"
run "every byte changed" flip "$captures/005-report-success.xml" "$step"
round
run "bodies" bodies "$secret"
first=$(memory VmRSS)
round
second=$(memory VmRSS)
say "memory after the first round: $first kB, after the second: $second kB, most: $(memory VmHWM) kB"

# --- the process
claim "the server lives" runs "$server_pid"
claim "and serves" reply_has '<userid>1</userid>'
if [ -z "${QM_SANITIZED:-}" ]; then
    # Two threads: each holds a body of 32 MiB, 64 MiB of arena and its reply at most; freed memory
    # that the allocator keeps, and the program, are in the rest.
    claim "its memory was bounded" test "$(memory VmHWM)" -lt $((2 * (32 + 64 + 8) * 1024 + 98304))
    claim "and does not grow" test $((second - first)) -lt 16384
else
    # A sanitizer keeps freed memory for a while (256 MB), and a shadow of all.
    claim "its memory was bounded" test "$(memory VmHWM)" -lt $((1500 * 1024))
fi
end_process "$server_pid" 30
claim "its end was clean" log_has one 'event=stopped'
claim "nothing critical happened" not log_has one 'level=critical'
claim "no sanitizer complains" not grep -q 'ERROR: .*Sanitizer\|runtime error:' "$work/one.log"

# --- the database
tables >"$work/tables.after"
claim "the tables are all there" cmp "$work/tables.before" "$work/tables.after"
untouched >"$work/rows.after"
claim "what is not the clients' is as it was" cmp "$work/rows.before" "$work/rows.after"
claim "one user" test "$(rows "SELECT COUNT(*) FROM user")" = 1
claim "600 results, all of them of the user's hosts" test "$(rows "SELECT COUNT(*) FROM result
    JOIN host ON host.id = hostid WHERE result.userid = 1 AND host.userid = 1")" = 600
claim "in one of the states that a report leaves" \
    test "$(rows "SELECT COUNT(*) FROM result WHERE server_state NOT IN (4, 5)")" = 0
hosts=$(rows "SELECT COUNT(*) FROM host")
claim "the machine is one host, and few more came of damaged numbers ($hosts)" test "$hosts" -lt 300

# The SQL text stands, as it was sent, in every column that has any of it.
bound=${sql_text//\\/\\\\}
bound=${bound//\'/\'\'}
stored=0
while read -r table column; do
    read -r some all < <(rows "SELECT COALESCE(SUM(INSTR($column, 'UPDATE user SET') > 0), 0),
        COALESCE(SUM(INSTR($column, BINARY '$bound') > 0), 0) FROM $table")
    [ "$some" = "$all" ] || [ "$table.$column" = host.misc ] || claim_failed "$table.$column: $some texts, $all as they were sent"
    [ "$some" = 0 ] || { stored=$((stored + 1)) && say "    $table.$column: $some"; }
done < <(rows "SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = '$schema' AND data_type IN ('char', 'varchar', 'text', 'blob', 'mediumblob',
        'mediumtext', 'longblob') AND table_name IN ('host', 'result', 'user', 'msg_from_host')")
claim "and there are some ($stored)" test "$stored" -ge 8
claim "what stands as JSON is quoted as JSON" test "$(rows "SELECT COUNT(*) FROM host
    WHERE misc <> '' AND NOT JSON_VALID(misc)")" = 0
claim "nobody has a credit of 666" test "$(rows "SELECT COUNT(*) FROM user WHERE total_credit <> 0")" = 0
for column in host.domain_name host.p_model host.os_name result.stderr_out msg_from_host.xml; do
    claim "the secret is not in $column" test "$(rows "SELECT COUNT(*) FROM ${column%.*}
        WHERE INSTR(${column#*.}, 'secret-of') > 0")" = 0
done
wrong=$(rows "SELECT COUNT(*) FROM host WHERE NOT
    ((p_ncpus >= 1 OR domain_name = '') AND p_ncpus >= 0 AND rpc_time > 0)")
claim "every host that described itself has processors ($wrong)" test "$wrong" = 0
wrong=$(rows "SELECT COUNT(*) FROM result WHERE NOT (cpu_time >= 0 AND elapsed_time >= 0)")
claim "no job took less than no time ($wrong)" test "$wrong" = 0
finish
