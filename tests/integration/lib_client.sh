# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One real BOINC client at a project behind nginx, and a hand on its controls. To be sourced after
# lib.sh. Its folder is $work/client; what the user would do is `control`; each request that it
# made for a user's update stays as $work/request.N.xml, and its reply.

# shellcheck source=lib_demo.sh
. "$(dirname "$0")/lib_demo.sh"
client=$work/client
requests=0

# client_project APP [ELEMENT...]: a project with that program as application "demo", the elements
# in its config.xml, and a server and nginx in front of it.
client_project() {
    local app=$1 port page
    shift
    need curl nginx boinc boinccmd
    [ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
    cp "$QM_BINARY_DIR/quartermaster" "$program"
    take_port
    web_port=$port
    page=http://127.0.0.1:$port
    master=$page/test/
    in_project init "$project" --url "$master" --name Integration --db-name "$schema" \
        --db-user root --db-socket "$QM_TEST_SOCKET" --scheduler "$page/test_cgi/cgi"
    printf '%s\n' "$@" >"$work/elements"
    # Limits are those of the test, not of a new project.
    sed -i -E '/<(daily_result_quota|max_wus_to_send|send_result_abort|delete_delay_hours|extend_deadlines|learn_availability)>/d' "$project/config.xml"
    sed -i "/<config>/r $work/elements" "$project/config.xml"
    in_project --project "$project" app add demo
    in_project --project "$project" version add demo 1.00 x86_64-pc-linux-gnu "$app"
    key=$(volunteer_key "$project")
}

# start_client [OPTION...]: the servers behind nginx, or what $front says, and the client with these options
# of tools/real-client.
start_client() {
    start_server server
    start_web web "${front:-nginx}" --socket "$work/server.socket" || exit 1
    "$QM_SOURCE_DIR/tools/real-client" --url "$master" --key "$key" --dir "$client" --goal 1000 \
        --seconds 300 "$@" >"$work/client.txt" 2>&1 </dev/null &
    started+=($!)
    within 30 client_has_asked || {
        claim_failed "the client asks for work"
        exit 1
    }
    keep_request
}

control() {
    (cd "$client" && boinccmd --host "127.0.0.1:$(cat control_port)" \
        --passwd "$(cat gui_rpc_auth.cfg)" "$@") >>"$work/control.log" 2>&1
}

said() { sed -n "/$1/p" "$client/client.log" 2>/dev/null | wc -l; }
replies() { said 'Scheduler request completed'; }
client_has_asked() { [ "$(replies)" -gt 0 ]; }
client_has_replies() { [ "$(replies)" -ge "$1" ]; }
client_is_silent() { [ "$(said 'Sending scheduler request')" -eq "$(replies)" ]; }

keep_request() {
    requests=$((requests + 1))
    last_request=$work/request.$requests.xml
    last_reply=$work/reply.$requests.xml
    cp "$client"/sched_request_*.xml "$last_request"
    cp "$client"/sched_reply_*.xml "$last_reply"
}

# What the button "Update" does; over when the client has the reply. A client looks for such wishes
# once in five seconds.
update_client() {
    local before
    within 60 client_is_silent
    before=$(replies)
    control --project "$master" update
    within 60 client_has_replies $((before + 1)) || {
        claim_failed "the client sends a request and accepts the reply"
        return 1
    }
    keep_request
}

# The number in ELEMENT of the last request.
asked() { sed -n "s|.*<$1>\([-+.0-9e]*\)</$1>.*|\1|p" "$last_request" | head -n 1; }
