#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Backup and restore by the commands of running(7), as they stand there, onto a database server that knows
# nothing of the project; and what clients then see that went on since: a host whose requests are numbered
# further, jobs sent and reported since, a host, a job and an account that the backup does not know.
# shellcheck disable=SC2317,SC2016 # claim calls the functions; what other shells expand is quoted
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx mariadb mariadbd mariadb-dump

page=$QM_SOURCE_DIR/server/running.7.md
QM_BINARY_DIR=$(readlink -f "$QM_BINARY_DIR")
# commands HEADING: those of its fences, in folders and a database of this test.
commands() {
    # shellcheck disable=SC2016 # a fence of Markdown
    sed -n "/^### $1/,/^##/p" "$page" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
        sed -e "s|/srv|$work/srv|g; s|\\bdemo\\b|$schema|g; s|srv/$schema|srv/demo|g; s|-C \([^ ]*\) \(.*\) $schema\$|-C \1 \2 demo|; s|backup/$schema|backup/demo|g"
}
# As Debian's root, who needs no password; on the server that stands in $QM_TEST_SOCKET.
mkdir -p "$work/commands" "$work/srv"
for name in mariadb mariadb-dump; do
    printf '#!/bin/sh\nexec %s --no-defaults -S "$QM_TEST_SOCKET" -u root "$@"\n' "$(command -v $name)" >"$work/commands/$name"
done
chmod +x "$work/commands"/*
typed() { # HEADING
    commands "$1" >"$work/typed"
    [ -s "$work/typed" ] && QM_TEST_SOCKET=$QM_TEST_SOCKET PATH="$work/commands:$QM_BINARY_DIR:$PATH" bash -e "$work/typed" >"$work/said" 2>&1 && return
    cat "$work/typed" "$work/said"
    return 1
}

project=$work/srv/demo
new_project "<min_sendwork_interval>0</min_sendwork_interval>" "<send_result_abort>1</send_result_abort>" \
    "<download_dir>$project/download</download_dir>" "<download_url>http://127.0.0.1/test/download</download_url>" \
    "<upload_dir>$project/upload</upload_dir>" "<upload_url>http://127.0.0.1/test/file_upload_handler</upload_url>"
rm "$project"/keys/code_sign_* # its halves are of two pairs
"$QM_BINARY_DIR/qmctl" init "$project" >"$work/said" || exit 1
chmod 600 "$project"/keys/*_private
add_jobs 3
start_server before --threads 2
start_nginx "$work/before.socket"

# ask HOST SEQNO WORK [LISTED...]: of a machine of that name; the reply in $work/HOST. Its number is what it was told.
declare -A number=()
ask() {
    local host=$1 seqno=$2 seconds=$3 name listed=''
    shift 3
    for name; do listed+="<other_result><name>$name</name></other_result>"; done
    sed -e "s|<host_cpid>.*</host_cpid>|<host_cpid>$(printf '%s' "$host" | md5sum | cut -c1-32)</host_cpid>|" \
        -e "s|<domain_name>.*</domain_name>|<domain_name>$host</domain_name>|" \
        -e "s|<hostid>.*</hostid>|<hostid>${number[$host]:-0}</hostid>|" \
        -e "s|<rpc_seqno>.*</rpc_seqno>|<rpc_seqno>$seqno</rpc_seqno>|" \
        -e "s|<work_req_seconds>.*|<work_req_seconds>$seconds</work_req_seconds>|; s|<cpu_req_secs>.*|<cpu_req_secs>$seconds</cpu_req_secs>|" \
        -e "s|<other_results>|&$listed|; s|<authenticator>.*|<authenticator>${key:-$account}</authenticator>|" \
        -e "s|^</scheduler_request>|${reported:-}&|" \
        "$QM_SOURCE_DIR/tests/captures/021-attach-with-work.xml" >"$work/$host.request"
    post "$url" "$work/$host.request" >"$work/$host"
    name=$(sed -n 's|.*<hostid>\([0-9]*\)</hostid>.*|\1|p' "$work/$host" | head -n 1)
    [ -z "$name" ] || number[$host]=$name
    is_reply "$work/$host"
}
gets() { ask "$1" "$2" 1 "${@:4}" && grep -q "<name>$3</name>" "$work/$1"; }
report() { # HOST SEQNO RESULT
    reported="<result><name>$3</name><exit_status>0</exit_status><state>5</state><final_elapsed_time>9</final_elapsed_time></result>" \
        ask "$1" "$2" 0 && grep -A1 '<result_ack>' "$work/$1" | grep -q "<name>$3</name>"
}
state() { rows "SELECT CONCAT_WS(' ', server_state, hostid, outcome) FROM result WHERE name = '$1'"; }
aborts() { grep -A1 '<result_abort>' "$work/$1" | grep -q "<name>$2</name>"; }

claim "a host gets a job" gets early 1 job_1_0
was=${number[early]}
claim "the backup is made while the server runs" typed 'Backup'

# What the backup does not know.
claim "after the backup, it reports its job" report early 2 job_1_0
claim "and gets another" gets early 3 job_2_0
number[late]=0
claim "a new host comes, and gets a job" gets late 1 job_3_0
late_was=${number[late]}
add_jobs 1 90
claim "it gets a new job, too" within 10 gets late 2 job_90_0 job_3_0
rows "SET sql_mode = ''; INSERT INTO user SET id = 2, create_time = 1, email_addr = 'new@example.org', name = 'New',
    authenticator = 'abcdefabcdefabcdefabcdefabcdefab'"
keys=$(cat "$project"/keys/* | md5sum)

# Everything is lost, and restored on another server.
end_process "$server_pid"
rm -r "$project"
mkdir "$work/other"
"$QM_SOURCE_DIR/tools/private-mariadb" start --in-memory "$work/other/db" >"$work/other/said" || exit 1
trap '"$QM_SOURCE_DIR/tools/private-mariadb" stop "$work/other/db" >"$work/other/said"; clean_up' EXIT
first_socket=$QM_TEST_SOCKET
other=$(readlink -f "$work/other/db/socket")
tar -C "$work/srv" -xf "$work/srv/backup/demo.tar"
sed -i "s|$first_socket|$other|" "$project/config.xml"
tar -C "$work/srv" -cf "$work/srv/backup/demo.tar" demo # the same, with the address of the new server
rm -r "$project"
QM_TEST_SOCKET=$other
claim "it is restored" typed 'Restore'
claim "nothing is wrong with it" not grep -q '^error' "$work/said"
claim "with the keys that clients know" test "$(cat "$project"/keys/* | md5sum)" = "$keys"
start_server after --threads 2
start_nginx "$work/after.socket"

claim "a host whose requests are numbered further keeps its number" ask early 4 1 job_2_0
claim "which it had" test "${number[early]}" = "$was"
claim "what it reported since is sent to it again" grep -q '<name>job_1_0</name>' "$work/early"
claim "and is its job still" test "$(state job_1_0)" = "4 $was 0"
claim "what it got since is taken back" aborts early job_2_0
claim "as it is unsent again" test "$(state job_2_0)" = "2 0 0"
claim "who reports such a job is told that all is well" report early 5 job_2_0
claim "and it is not booked" test "$(state job_2_0)" = "2 0 0"
claim "the host of after the backup gets another number" ask late 3 0 job_3_0 job_90_0
claim "which nobody had" test "${number[late]}" -gt 1000000 -a "${number[late]}" != "$late_was"
claim "its jobs are taken back" aborts late job_3_0
claim "those that the database does not know, too" aborts late job_90_0
claim "what nobody knows can be reported" report late 4 job_90_0
key=abcdefabcdefabcdefabcdefabcdefab ask stranger 1 0
claim "an account of after the backup is not known" grep -qi 'account' "$work/stranger"
claim "work goes on" gets late 5 'job_[23]_0'
finish
