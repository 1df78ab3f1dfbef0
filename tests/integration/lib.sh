#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the integration tests share: a project with a schema of its own in the private MariaDB, real
# servers on sockets and loopback ports of their own, and requests sent to them. To be sourced. All
# that is made lies in $work; all that is started is ended when the test ends.
#
# Environment (CTest sets it): QM_SOURCE_DIR, QM_BINARY_DIR, QM_TEST_SOCKET.
set -uo pipefail
export LC_ALL=C.UTF-8 CDPATH=

: "${QM_SOURCE_DIR:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${QM_BINARY_DIR:=$QM_SOURCE_DIR/build/debug}"
: "${QM_TEST_SOCKET:=$QM_BINARY_DIR/mariadb/socket}"
# The socket itself: the link may lie where a web server's user cannot enter.
QM_TEST_SOCKET=$(readlink -f "$QM_TEST_SOCKET")

# shellcheck source=../../tools/processes.sh
. "$QM_SOURCE_DIR/tools/processes.sh"

export PATH="$PATH:/usr/sbin:/sbin"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY # all is on loopback
readonly skipped=77
failures=0
started=() # process numbers, in the order of their start
work=$(mktemp -d /tmp/qm-test.XXXXXX)
chmod 755 "$work" # web servers run as other users
mkdir -p "$work/bin"
project=$work/p
program=$work/bin/quartermaster # a copy: the build folder may be closed to others
schema=qm_integration_$$
account=1234567890abcdef1234567890abcdef # of the captured requests

say() { printf '%s\n' "$*"; }
claim_failed() {
    failures=$((failures + 1))
    say "FAILED: $*"
}
# claim WORDS COMMAND...: the command succeeds.
claim() {
    local words=$1
    shift
    if "$@"; then say "ok: $words"; else claim_failed "$words"; fi
}
not() { ! "$@"; }
skip() {
    say "skipped: $*"
    exit "$skipped"
}
need() {
    local command
    for command; do
        command -v "$command" >/dev/null || skip "$command is not installed"
    done
}

sql() { mariadb --no-defaults -S "$QM_TEST_SOCKET" -u root -N -B "$@"; }
rows() { sql "$schema" -e "$1"; }

# A child that has not been waited for: its number cannot belong to anybody else.
is_child() { [ "$(ps -o ppid= -p "$1" | tr -d ' ')" = $$ ]; }

# end_process PID [SECONDS]: asks, waits, insists. Numbers of processes are used again soon.
end_process() {
    is_child "$1" || return 0
    kill -TERM "$1" 2>/dev/null
    within "${2:-10}" ended "$1" || kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

clean_up() {
    local status=$? i
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        end_process "${started[$i]}"
    done
    sql -e "SHOW DATABASES" 2>/dev/null | grep -E "^qm_integration_$$(_|\$)" |
        while read -r name; do [ -n "${QM_KEEP:-}" ] || sql -e "DROP DATABASE $name" 2>/dev/null; done
    if [ $status -ne 0 ] && [ $status -ne $skipped ] || [ $failures -gt 0 ]; then
        say "--- ends of logs in $work"
        tail -n 6 "$work"/*.log "$work"/*/*.log 2>/dev/null | cut -c 1-400
    fi
    [ -n "${QM_KEEP:-}" ] || rm -rf "$work"
}
trap clean_up EXIT

# The last line of a test.
finish() {
    if [ $failures -gt 0 ]; then
        say "$failures claims failed"
        exit 1
    fi
    exit 0
}

# take_port: in $port, for this test alone.
take_port() {
    find_port && return
    say "no free port on loopback"
    exit 1
}

# new_project [ELEMENT...]: folder, schema, one account, one app with a version for Linux. The
# elements, as <name>value</name>, go into config.xml.
new_project() {
    [ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
    cp "${QM_PROGRAM:-$QM_BINARY_DIR/quartermaster}" "$program"
    "$QM_BINARY_DIR/qmctl" init "$project" --url "http://127.0.0.1${web_port:+:$web_port}/test/" --name Integration \
        --db-name "$schema" --db-socket "$QM_TEST_SOCKET" --db-user root >"$work/init.log" 2>&1 ||
        exit 1
    write_config "$@"
    # The key that the captured requests know.
    cp "$QM_SOURCE_DIR/tests/integration/code_sign_public" "$project/keys/"
    chmod -R a+rX "$project" # CGI programs run as the web server's user
    fill_project
}

# The configuration alone, to be changed while servers run.
write_config() {
    {
        echo "<boinc><config>"
        echo "<db_name>$schema</db_name><db_user>root</db_user>"
        echo "<db_socket>$QM_TEST_SOCKET</db_socket>"
        echo "<long_name>Integration</long_name>"
        echo "<master_url>http://127.0.0.1${web_port:+:$web_port}/test/</master_url>"
        echo "<delay_jitter>0</delay_jitter>"
        printf '%s\n' "$@"
        echo "</config></boinc>"
    } >"$project/config.xml.new"
    mv "$project/config.xml.new" "$project/config.xml"
}

fill_project() {
    sql "$schema" <<SQL || exit 1
SET sql_mode = '';
INSERT INTO user SET id = 1, create_time = 1700000000, email_addr = 'a@example.org',
    name = 'Ada', authenticator = '$account', cross_project_id = 'fedcba9876543210fedcba9876543210';
INSERT INTO app SET id = 1, create_time = 1700000000, name = 'work', user_friendly_name = 'Work',
    weight = 1, host_scale_check = 0;
INSERT INTO app_version SET id = 1, create_time = 1700000000, appid = 1, version_num = 100,
    platformid = (SELECT id FROM platform WHERE name = 'x86_64-pc-linux-gnu'), plan_class = '', xml_doc =
'<file_info>
   <name>work_1</name>
   <url>http://mirror.example.org/work_1</url>
   <executable/>
   <md5_cksum>d41d8cd98f00b204e9800998ecf8427e</md5_cksum>
   <nbytes>0</nbytes>
</file_info>
<app_version>
   <app_name>work</app_name>
   <version_num>100</version_num>
   <file_ref>
      <file_name>work_1</file_name>
      <main_program/>
   </file_ref>
</app_version>
';
SQL
}

# add_jobs COUNT [FIRST]: workunits with one unsent result each, numbered from FIRST (1).
add_jobs() {
    local count=$1 first=${2:-1}
    sql "$schema" <<SQL || exit 1
SET sql_mode = '';
INSERT INTO workunit (id, create_time, appid, name, xml_doc, rsc_fpops_est, rsc_fpops_bound,
    rsc_memory_bound, rsc_disk_bound, transition_time, delay_bound, min_quorum, target_nresults,
    max_error_results, max_total_results, max_success_results)
SELECT seq, 1700000000, 1, CONCAT('job_', seq), CONCAT('<workunit>
<command_line>', seq, '</command_line>
</workunit>
'), 1e12, 1e14, 1e7, 1e7, 2147483647, 604800, 1, 1, 3, 3, 1
FROM seq_${first}_to_$((first + count - 1));
INSERT INTO result (id, create_time, workunitid, server_state, name, xml_doc_in, appid, random)
SELECT seq, 1700000000, seq, 2, CONCAT('job_', seq, '_0'), CONCAT('<result>
    <name>job_', seq, '_0</name>
    <wu_name>job_', seq, '</wu_name>
    <platform/>
</result>
'), 1, seq FROM seq_${first}_to_$((first + count - 1));
SQL
}

# start_server NAME [OPTION...]: listens on $work/NAME.socket, logs to $work/NAME.log; its process
# number is in $server_pid.
start_server() {
    local name=$1
    shift
    # shellcheck disable=SC2094 # what precedes the log, such as a sanitizer's report, joins it
    "$program" --project "$project" --listen "unix:$work/$name.socket" --socket-mode 0666 \
        --log "$work/$name.log" "$@" 2>>"$work/$name.log" </dev/null &
    server_pid=$!
    started+=("$server_pid")
    within 15 test -S "$work/$name.socket" || {
        claim_failed "server $name starts"
        exit 1
    }
}

# start_uploads: the upload handler, which every web server of start_web passes uploads to.
# Its log is $work/uploads.log, its process number in $uploads_pid.
start_uploads() {
    local before
    before=$(upload_starts || true)
    before=${before:-0}
    # shellcheck disable=SC2094 # as above
    "$program" --upload --project "$project" --listen "unix:$work/uploads.socket" \
        --socket-mode 0666 --log "$work/uploads.log" 2>>"$work/uploads.log" </dev/null &
    uploads_pid=$!
    started+=("$uploads_pid")
    within 15 uploads_started "$before" || {
        claim_failed "the upload handler starts"
        exit 1
    }
}
upload_starts() { grep -c 'event=started what=upload' "$work/uploads.log" 2>/dev/null; }
uploads_started() {
    local starts
    starts=$(upload_starts)
    [ "${starts:-0}" -gt "$1" ]
}

# start_submission [OPTION...]: the process that takes jobs, which every web server of start_web passes
# what is submitted to. Its log is $work/submission.log, its process number in $submission_pid.
start_submission() {
    # shellcheck disable=SC2094 # as above
    # With the umask of a hardened machine: what it makes is for web servers, whoever they are.
    (umask 077 && exec "$program" --submit --project "$project" --listen "unix:$work/submission.socket" \
        --socket-mode 0666 --log "$work/submission.log" "$@" 2>>"$work/submission.log" </dev/null) &
    submission_pid=$!
    started+=("$submission_pid")
    within 15 test -S "$work/submission.socket" || {
        claim_failed "the process for submission starts"
        exit 1
    }
}

# start_web NAME KIND [OPTION...]: a private web server with the samples of config/ (KIND and options:
# tools/private-web) on $web_port or a port of its own; the scheduler's URL is in $url.
start_web() {
    local name=$1 kind=$2 port
    shift 2
    if [ -n "${web_port:-}" ]; then port=$web_port; else take_port; fi
    "$QM_SOURCE_DIR/tools/private-web" --server "$kind" --dir "$work/$name" --port "$port" \
        --name test --project "$project" --uploads "$work/uploads.socket" \
        --submission "$work/submission.socket" "$@" >"$work/$name.log" 2>&1 </dev/null &
    started+=($!)
    url=http://127.0.0.1:$port/test_cgi/cgi
    if ! within 15 answers "$url" || ! is_child "${started[-1]}"; then
        claim_failed "$kind starts"
        return 1
    fi
}

# start_nginx [--failures] [--workers=N] SOCKET...: in front of one or more servers.
start_nginx() {
    local path sockets=()
    need nginx
    for path; do
        case $path in
        --failures) sockets+=("$path") ;;
        --workers=*) sockets+=(--workers "${path#*=}") ;;
        *) sockets+=(--socket "$path") ;;
        esac
    done
    web_count=$((${web_count:-0} + 1))
    start_web "nginx$web_count" nginx "${sockets[@]}" || exit 1
}

# post URL FILE [CURL-OPTION...]: sends a request; the reply on standard output.
post() {
    local target=$1 file=$2
    shift 2
    curl -s --max-time 120 -H 'Expect:' -H 'Content-Type: text/xml' --data-binary "@$file" "$@" \
        "$target"
}

# A request without work, of a host that add_host puts into the database, so that nothing that a
# reply shows changes by it.
request=$work/request.xml
sed 's|<hostid>.*</hostid>|<hostid>4242</hostid>|' \
    "$QM_SOURCE_DIR/tests/captures/069-no-new-work.xml" >"$request"
add_host() {
    rows "SET sql_mode = ''; INSERT INTO host SET id = 4242, userid = 1,
          create_time = 1700000000, rpc_seqno = 0, rpc_time = 1700000000"
}
reply() { # $work/replies has a line for each
    post "$url" "$request" >"$work/reply" && is_reply "$work/reply" && echo >>"$work/replies"
}
reply_has() { reply && grep -q "$1" "$work/reply"; }
reply_lacks() { reply && ! grep -q "$1" "$work/reply"; }
# counted NAME NUMBER...: so says the JSON object in $figures.
counted() {
    while [ $# -gt 0 ]; do
        # shellcheck disable=SC2154 # the test sets it
        grep -q "\"$1\": $2[,}]" <<<"$figures" || {
            say "$1: $figures"
            return 1
        }
        shift 2
    done
}
log_has() { grep -q "$2" "$work/$1.log"; }

# is_reply FILE: a complete scheduler_reply, beginning in its first line.
is_reply() {
    [ "$(head -n 1 "$1")" = "<scheduler_reply>" ] && tail -n 1 "$1" | grep -q '</scheduler_reply>'
}
