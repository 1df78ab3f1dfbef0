#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The server's command line: what it prints, what it refuses, and what a client hears of a program that
# a web server starts where no project can be served.
# shellcheck disable=SC2317 # functions are called by claim and expect
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"

new_project "<upload_dir>$work/upload</upload_dir>"
mkdir "$work/upload"

# expect STATUS PATTERN COMMAND...: exit status, and an extended pattern in what it says.
expect() {
    local wanted=$1 pattern=$2 got
    shift 2
    "$@" >"$work/said" 2>&1 </dev/null
    got=$?
    [ "$got" -eq "$wanted" ] && grep -qE -- "$pattern" "$work/said" && say "ok: $* says $pattern" && return
    claim_failed "$* (exit status $got, wanted $wanted; wanted: $pattern)"
    head -n 20 "$work/said"
}
server() { "$program" --project "$project" "$@"; }

# --- what it prints
expect 0 '^quartermaster [0-9]' server --version
line=$(head -n 1 "$work/said")
for name in qmctl qmload qmbench qmvolunteers qmcampaign; do
    claim "$name --version says the same" [ "$("$QM_BINARY_DIR/$name" --version)" = "$line" ]
done
[ ! -e "$QM_SOURCE_DIR/.git" ] || claim "and the commit: $line" grep -qE '[(]commit [0-9a-f]{12}' <<<"$line"
for library in libxml2 OpenSSL MariaDB; do expect 0 "^$library.* [0-9]" server --version; done
expect 0 '^long_name = Integration' server --dump-config
expect 0 '^claim_results: UPDATE result ' server --print-sql
claim "each statement that it prints is one" not grep -vE '^[a-z_]+: [A-Z(].*;$' "$work/said"
expect 0 '<max_ncpus>' server --write-sample
claim "the sample is the one that is shipped" cmp "$work/said" "$QM_SOURCE_DIR/config/config.xml"
expect 0 '^# ' server --write-manual
claim "so is the manual" cmp "$work/said" "$QM_SOURCE_DIR/config/config.xml.5.md"
to_a_full_disk() { server --print-sql >/dev/full; }
claim "what cannot be written is an error" not to_a_full_disk

# --- streams that are closed: nothing else gets their numbers, such as the connection to the database
without_output() { "$QM_BINARY_DIR/qmctl" --project "$project" app list 2>"$work/said" >&-; }
claim "output that is closed is an error" not without_output
claim "and said" grep -q 'cannot write the output' "$work/said"
without_input() {
    timeout 60 "$QM_BINARY_DIR/qmctl" --project "$project" jobs create --app work --in "$QM_SOURCE_DIR/tools/demo/in.xml" \
        --out "$QM_SOURCE_DIR/templates/none_out.xml" --name closed --stdin >"$work/said" 2>&1 <&-
}
without_input
claim "so is input that is closed, at once" [ $? -eq 1 ]
claim "and said too" grep -q 'standard input cannot be read' "$work/said"
without_errors() { "$QM_BINARY_DIR/qmctl" --project "$project" app list >"$work/said" <&- 2>&-; }
claim "nobody needs to read what fails" without_errors
claim "the answer is there" grep -q '^ *1  work' "$work/said"

# --- what it refuses
expect 64 'wanted octal digits up to 0777' server --socket-mode 1000
expect 64 'wanted octal digits up to 0777' server --socket-mode rw
expect 64 'wanted 1 to 1024' server --threads 0
expect 64 'wanted 1 to 1024' server --threads many
expect 64 'wanted 0 to 3600' server --service-time -1
expect 64 'wanted request' server --clock mine
expect 64 'Usage: ' server word
expect 1 'no listening socket on standard input' server
expect 1 'wanted unix:PATH or tcp:ADDRESS:PORT' server --listen "$work/s"
expect 1 'wanted unix:PATH or tcp:ADDRESS:PORT' server --upload --listen "$work/s"
write_config "<max_ncpus>many</max_ncpus>" "<nonesuch>1</nonesuch>"
expect 1 'config.xml:[0-9]+: error: max_ncpus' server --dump-config
expect 1 'config.xml:[0-9]+: warning: unknown option nonesuch' server --dump-config
expect 1 'event=not_started .*max_ncpus' server --listen "unix:$work/s"

# --- as a plain CGI program: a client waits for its answer
cgi() { REQUEST_METHOD=POST CONTENT_LENGTH=0 "$@"; }
expect 0 '^<project_is_down/>' cgi server
claim "the client keeps all it has, and comes again" grep -q '^<request_delay>3600</' "$work/said"
QM_UPLOAD=1 expect 0 '<status>1</status>' cgi server
claim "a file is asked for later" grep -q 'not set up correctly' "$work/said"
write_config "<db_socket>$work/nowhere</db_socket>"
bytes=$(stat -c %s "$request")
sent() { REQUEST_METHOD=POST CONTENT_LENGTH=$bytes server "$@" <"$request"; }
expect 0 '^<project_is_down/>' sent
claim "and says why" grep -q 'event=database_away' "$work/said"
write_config
mkdir -p "$project/cgi-bin"
in_cgi_bin() (cd "$project/cgi-bin" && cgi "$program")
expect 0 'the request is empty' in_cgi_bin
expect 0 '<scheduler_reply>' env QM_PROJECT="$project" REQUEST_METHOD=POST CONTENT_LENGTH=x "$program"
expect 0 'Content-Type: text/plain' env QM_PROJECT="$project" REQUEST_METHOD=GET "$program"
# What a query says is no option of ours.
expect 0 '<scheduler_reply>' env QM_PROJECT="$project" REQUEST_METHOD=POST CONTENT_LENGTH=0 QUERY_STRING=--version "$program" --version
finish
