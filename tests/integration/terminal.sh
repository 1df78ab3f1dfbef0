#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever volunteers write into the database, no command makes a terminal obey it or takes it for a line of its own: each
# text that the database can hold gets control characters of both ranges, what is no UTF-8, and the beginning of a line,
# and each command that shows something shows it, for people, with tabs and as JSON; and so do the server's log, its
# figures and its status page.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

new_project ""
qmctl() { "$QM_BINARY_DIR/qmctl" --project "$project" "$@"; }
add_jobs 3
add_host
rows "SET sql_mode = ''; UPDATE host SET p_ncpus = 4, p_fpops = 1e9;
    UPDATE workunit SET error_mask = 2, batch = 3 WHERE id = 2;
    UPDATE result SET server_state = 5, outcome = 1, hostid = 4242, userid = 1, sent_time = 1000, received_time = 2000,
        report_deadline = 3000 WHERE id < 3;
    INSERT INTO batch SET id = 3, name = 'x', user_id = 1, app_id = 1, state = 1; INSERT INTO user_submit SET user_id = 1, quota = 1;
    INSERT INTO user_submit_app SET user_id = 1, app_id = 1"

# ESC [2J, CSI of the second range, DEL, BEL, backspace, a line that nobody wrote; at the end what is no UTF-8, CSI as a bare
# byte, which only columns without a character set keep.
hostile="CONCAT(X'1b', '[2J', X'c29b', '31m', X'7f', X'07', X'08', X'0d0a', 'FORGED', X'0a', X'9b', '7m', X'fe')"
keys='authenticator|passwd_hash|cross_project_id|signed_user_id|xml_doc|xml_doc_in|xml_doc_out|plan_class|venue|global_prefs|project_prefs'
sql -e "SELECT table_name, column_name, character_maximum_length, COLUMN_KEY = 'UNI' FROM information_schema.columns
    WHERE table_schema = '$schema' AND table_name IN ('app', 'app_version', 'batch', 'host', 'host_app_version', 'platform', 'result', 'team',
        'user', 'workunit') AND data_type IN ('varchar', 'blob', 'mediumblob', 'text', 'mediumtext', 'longblob', 'longtext')
        AND column_name NOT REGEXP '^($keys)$'" >"$work/columns"
poisoned=0
while read -r table column length _; do
    [ "$length" -ge 24 ] || continue
    rows "SET sql_mode = ''; UPDATE $table SET $column = CAST(CONCAT(LEFT(COALESCE($column, ''), $length - 24), $hostile) AS BINARY)" 2>>"$work/sql.log" &&
        poisoned=$((poisoned + 1))
done <"$work/columns"
claim "texts are poisoned ($poisoned)" test "$poisoned" -ge 20
claim "a host's among them" test "$(rows "SELECT COUNT(*) FROM host WHERE domain_name LIKE '%FORGED%' AND os_name LIKE '%FORGED%' AND
    p_model LIKE '%FORGED%'")" = 1

# controls FILE: it holds what a terminal, of UTF-8 or of one byte to a character, would obey. (A tab and a new line are ours.)
controls() {
    LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]' "$1"
}
# Standard error of a job is the one text that has lines.
obeyed() {
    controls "$1" || sed '/^standard error of /,$d' "$1" | grep -an '^FORGED'
}
shows() { # WORDS...: a command, in its three forms
    local form
    for form in "" --tsv --json; do
        # shellcheck disable=SC2086 # $form is none or one word
        qmctl "$@" $form >"$work/shown" 2>&1 </dev/null
        claim "qmctl $* ${form:-for people} controls nothing" not obeyed "$work/shown"
        claim "and says something" test -s "$work/shown"
    done
}
shows host 4242
shows host --user 1
shows queue
shows queue --by-batch
shows jobs list
shows jobs show --id 1
shows jobs results
shows batch list
shows batch show 3
shows submitter list
shows jobs show --id 2
shows user list
shows user show --id 1
shows user delete --id 1
shows host delete 4242
shows app list
shows version list
shows platform list
shows why 4242
shows check-config
shows status
shows jobs cancel --id 3

# The server's own words: of a request that names such a host, of an application that is called so.
start_server server
start_nginx "$work/server.socket"
sed -E "s|<domain_name>[^<]*|<domain_name>$(printf 'x\\x1b[2J\\xc2\\x9b31m\\x9b')|; s|<os_name>[^<]*|<os_name>$(printf '\\x1b]0;title\\x07')|
    s|<authenticator>[^<]*|<authenticator>$(printf '\\xc2\\x9b31m\\x1b[2J')|" "$request" >"$work/stranger.xml"
sed -E "s|<domain_name>[^<]*|<domain_name>$(printf 'x\\x1b[2J\\xc2\\x9b31m\\x9b')|; s|<p_model>[^<]*|<p_model>$(printf '\\x1b]0;title\\x07')|" \
    "$request" >"$work/owner.xml"
for who in stranger owner; do
    post "$url" "$work/$who.xml" >"$work/reply"
    claim "a $who with such names is answered" is_reply "$work/reply"
done
claim "the log controls nothing" not obeyed "$work/server.log"
claim "and has both requests" test "$(grep -ac 'reply=' "$work/server.log")" -ge 2
for page in metrics status; do
    curl -s "$url/$page" >"$work/shown"
    claim "the page $page controls nothing" not controls "$work/shown"
    claim "names the application" grep -aq FORGED "$work/shown"
    claim "and is UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null "$work/shown"
done
shows host 4242

finish
