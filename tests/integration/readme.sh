#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of README.md for a project of one's own, as they stand there, behind an nginx that is set up
# as Debian's: with its user, and its own page for whom no other configuration answers. Only the folders,
# the port, the database and its user are other ones. Then a volunteer joins by a real client, as the page
# says, and computes the job.
# shellcheck disable=SC2317,SC2016 # claim calls the functions; the shell of the page expands the rest
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need nginx curl boinc boinccmd

[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
take_port
client_port=$port
take_port
client=$work/client
mkdir "$client"
cat >"$client/cc_config.xml" <<'XML'
<cc_config><options><skip_cpu_benchmarks>1</skip_cpu_benchmarks><dont_contact_ref_site>1</dont_contact_ref_site>
<no_info_fetch>1</no_info_fetch><report_results_immediately>1</report_results_immediately></options></cc_config>
XML
cat >"$client/global_prefs_override.xml" <<'XML'
<global_preferences><suspend_cpu_usage>0</suspend_cpu_usage><run_on_batteries>1</run_on_batteries>
<run_if_user_active>1</run_if_user_active></global_preferences>
XML
mkdir -p "$work/srv" "$work/run" "$work/nginx/conf.d" "$work/html"
echo "<title>Welcome to nginx</title>" >"$work/html/index.html"
cat >"$work/nginx/nginx.conf" <<CONF
daemon off; pid $work/nginx/pid; error_log $work/nginx/error.log; events {}
$([ "$(id -u)" != 0 ] || echo "user www-data;")
http {
    access_log $work/nginx/access.log;
    client_body_temp_path $work/nginx/body; fastcgi_temp_path $work/nginx/fastcgi;
    proxy_temp_path $work/nginx/proxy; uwsgi_temp_path $work/nginx/uwsgi; scgi_temp_path $work/nginx/scgi;
    types { text/html html; }
    include $work/nginx/conf.d/*.conf;
    server {
        listen 127.0.0.1:$port default_server;
        root $work/html;
        server_name _;
    }
}
CONF
nginx -p "$work/nginx" -c "$work/nginx/nginx.conf" -e "$work/nginx/error.log" &
started+=($!)
within 10 curl -s -o "$work/page" "http://127.0.0.1:$port/"
claim "nginx shows its own page before" grep -q Welcome "$work/page"

# typed OPTION: what the page has a volunteer type.
typed() { grep -oE "boinccmd --$1 [^\`]*" "$QM_SOURCE_DIR/README.md" | sed "s|127.0.0.1/|127.0.0.1:$port/|"; }

group=www-data
[ "$(id -u)" = 0 ] || group=$(id -gn)
{
    echo 'set -e'
    echo "trap 'kill \$(jobs -p)' EXIT"
    # Until the workers of before are gone, they may answer a command that follows at once.
    cat <<RELOAD
reload_nginx() {
    local before
    before=\$(pgrep -d, -P "\$(cat "$work/nginx/pid")")
    kill -HUP "\$(cat "$work/nginx/pid")"
    for _ in {1..200}; do
        ps -p "\$before" >"$work/workers" || return 0
        sleep 0.1
    done
    return 1
}
await_sockets() { # whoever types takes longer
    for _ in {1..200}; do
        if [ -S "$work/run/demo.socket" ] && [ -S "$work/run/demo-upload.socket" ]; then return 0; fi
        sleep 0.1
    done
    return 1
}
RELOAD
    # shellcheck disable=SC2016 # a fence of Markdown
    sed -n '/^## A project of your own/,/^## /p' "$QM_SOURCE_DIR/README.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
        sed -e "s|/srv/|$work/srv/|g; s|/run/|$work/run/|g; s|127.0.0.1/|127.0.0.1:$port/|g; s|www-data|$group|g" \
            -e "s|--db-name demo --db-user demo|--db-name $schema --db-user $schema --db-socket $QM_TEST_SOCKET|" \
            -e "s|deploy nginx|& --file $work/nginx/conf.d/demo.conf --address 127.0.0.1 --group $group|" \
            -e "/deploy nginx/s|\$| >$work/deployed|; /deploy nginx/i await_sockets" \
            -e "s|^nginx -t|nginx -t -e $work/nginx/error.log -c $work/nginx/nginx.conf|" \
            -e "s|systemctl reload nginx|reload_nginx|"
    cat <<CLIENT
(cd "$client" && exec boinc --allow_multiple_clients --gui_rpc_port $client_port --no_gpus) >"$work/client.log" 2>&1 &
boinccmd() { command boinccmd --host 127.0.0.1:$client_port --passwd "\$(cat "$client/gui_rpc_auth.cfg")" "\$@"; }
for _ in {1..60}; do ! boinccmd --get_cc_status >$work/client.up 2>&1 || break; sleep 0.5; done
key=\$($(typed create_account | sed 's/EMAIL PASSWORD NAME/bob@example.org "a long password" Bob/') | grep -oE '[0-9a-f]{32}')
$(typed project_attach | sed 's/KEY/"$key"/')
# The client may have been told to wait before the job was done: what it has is reported when its user wants it.
for _ in {1..60}; do
    ! boinccmd --get_tasks | grep -q 'ready to report: yes' || boinccmd --project http://127.0.0.1:$port/demo/ update
    boinccmd --get_old_tasks | tee $work/tasks | grep -q '^task ' && break
    sleep 2
done
qmctl --project $work/srv/demo jobs results --tsv >$work/results
curl -s -o $work/metrics http://127.0.0.1:$port/demo_cgi/cgi/metrics
CLIENT
} >"$work/commands"
# Once more at the end, when the sockets are there.
again=$(sed -n '/deploy nginx/s|/deployed|/again|p' "$work/commands")
echo "$again" >>"$work/commands"
claim "the page has commands" test "$(grep -c 'qmctl\|quartermaster' "$work/commands")" -ge 10
cd "$QM_SOURCE_DIR" || exit 1
PATH="$QM_BINARY_DIR:$PATH" bash "$work/commands" >"$work/said" 2>&1 </dev/null
status=$?
claim "they end well" test $status = 0
claim "a volunteer joins by a client, which has its result taken" grep -q "^task " "$work/tasks"
claim "and that is the answer" grep -qw success "$work/results"
claim "the scheduler is found to answer" grep -qE '^scheduler .* ok ' "$work/said"
claim "the database is worked with as $schema" grep -qE '^database .* ok ' "$work/said"
claim "nothing is left to be run but what the page goes on with" test \
    "$(sed -n 's/^run  *//p' "$work/deployed")" = "$(sed -n '/deploy nginx --socket/{n;p;}' "$QM_SOURCE_DIR/README.md")"
claim "nothing fails" not grep -qE 'FAILED|^error' "$work/said"
claim "uploads are found to work" not grep -q 'output files cannot be uploaded' "$work/said"
claim "deploy is done" grep -q '^same ' "$work/again"
claim "and has nothing to say of sockets or folders" not grep -qE 'cannot be|socket' "$work/again"
claim "this machine sees the counters" grep -q '^quartermaster_requests_total' "$work/metrics"
[ "$failures" = 0 ] || cat "$work/said"
sql -e "DROP USER IF EXISTS '$schema'@localhost"
finish
