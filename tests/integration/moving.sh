#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of moving(7) as they stand there, for a project of BOINC's that runs: over, and back. The folder, the
# database and what systemd and Apache would do are other ones.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/integration/lib_boinc.sh
. "$(dirname "$0")/lib_boinc.sh"
need curl nginx
[ -S "$QM_TEST_SOCKET" ] || skip "no private MariaDB at $QM_TEST_SOCKET"
cp "$QM_BINARY_DIR/quartermaster" "$program"

mkdir "$work/root" "$work/units" "$work/projects"
take_port
web_port=$port
boinc_tables "$schema" 2012
boinc_folder "$project" "$schema"
sed -i "s|127.0.0.1/|127.0.0.1:$port/|" "$project/config.xml" "$project/html/user/schedulers.txt"
cp "$project/html/user/schedulers.txt" "$project/html/user/index.html" # which its PHP would show
rows "INSERT INTO platform SET create_time = 1, name = 'x86_64-pc-linux-gnu', user_friendly_name = 'Linux'"
fill_project
add_jobs 5
add_host
rows "UPDATE result SET server_state = 4, hostid = 4242, userid = 1 WHERE id = 5"
tables_of "$schema" >"$work/tables"
cp "$project/config.xml" "$work/config"
boinc_writes "$schema" >"$work/writes"
# As BOINC's, without the daemons: what clients and other programs see of them is this file.
printf '#!/bin/sh\n: >%s/stop_sched\n' "$project" >"$project/bin/stop"
printf '#!/bin/sh\nrm -f %s/stop_sched\n' "$project" >"$project/bin/start"
chmod +x "$project"/bin/*
start_nginx "$work/demo.socket"

group=www-data
[ "$(id -u)" = 0 ] || group=$(id -gn)
# systemd and Apache: the service is a process, and what answers in its stead before it is there is nginx.
cat >"$work/stubs" <<STUBS
set -e
systemctl() {
    echo "systemctl \$*" >>$work/system
    case "\$*" in
    "enable --now quartermaster@demo")
        $program --project $project --listen unix:$work/demo.socket --socket-mode 0666 --log $work/server.log </dev/null &
        echo \$! >$work/pid
        for _ in {1..100}; do [ -S $work/demo.socket ] && break; sleep 0.1; done
        curl -s --data-binary @$work/request.xml $url >$work/reply.stopped
        ;;
    "reload quartermaster@demo") kill -HUP \$(cat $work/pid) ;;
    "disable --now quartermaster@demo") kill \$(cat $work/pid); wait \$(cat $work/pid) || true ;;
    "reload apache2") : ;;
    *) return 1 ;;
    esac
}
a2enmod() { echo "a2enmod \$*" >>$work/system; }
a2ensite() { echo "a2ensite \$*" >>$work/system; }
a2dissite() { echo "a2dissite \$*" >>$work/system; }
apache2ctl() { echo "apache2ctl \$*" >>$work/system; }
mariadb() { command mariadb --no-defaults -S $QM_TEST_SOCKET -u root "\$@"; }
mariadb-dump() { mariadb -N -e "SELECT name FROM result" "\${@: -1}"; } # its package brings a server of the machine's
STUBS
# commands SECTION...: those of the page in these sections.
commands() {
    local section
    for section; do
        # shellcheck disable=SC2016 # a fence of Markdown
        sed -n "/^## $section /,/^## /p" "$QM_SOURCE_DIR/server/moving.7.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```'
    done | sed -e "s|/home/boincadm/projects/demo|$project|g; s|/root/|$work/root/|g" \
        -e "s/mariadb demo/mariadb $schema/; s/transaction demo/transaction $schema/" \
        -e "s|deploy systemd|& --units $work/units --projects $work/projects --group $group|" \
        -e "s|deploy apache|& --file $work/demo.conf --group $group --socket $work/demo.socket|"
}
{
    cat "$work/stubs"
    commands 2 3 4
    echo "curl -s --data-binary @$work/request.xml $url >$work/reply.over"
    echo "sql() { mariadb -N -B \"\$@\"; }"
    echo "cd $project"
    commands 6
} >"$work/commands"
claim "the page has commands" test "$(grep -c 'qmctl \|systemctl \|sed ' "$work/commands")" -ge 20
PATH="$QM_BINARY_DIR:$PATH" bash "$work/commands" >"$work/said" 2>&1 </dev/null
claim "they end well" test $? = 0
[ "$failures" = 0 ] || cat "$work/said"

claim "adopt says what would change" grep -qE '^change +upgrade +0001' "$work/said"
claim "and does it" grep -qE 'done: .*table qm_host' "$work/said"
claim "then there is nothing to change" grep -q 'nothing to change' "$work/said"
claim "who starts the server is said" grep -qE 'quartermaster@[a-z]+' "$work/said"
claim "the scheduler is found to answer" grep -qE '^scheduler .* ok ' "$work/said"
claim "the feeder is disabled then" grep -q 'feeder is disabled' "$work/said"
claim "stopped, it asks for two minutes" grep -qE '<request_delay>1[0-9][0-9]([.][0-9]*)?</' "$work/reply.stopped"
claim "and is down" grep -q '<project_is_down/>' "$work/reply.stopped"
claim "afterwards the same client is served" grep -q '<userid>1</userid>' "$work/reply.over"
claim "and the project is up" not grep -q '<project_is_down/>' "$work/reply.over"
claim "Apache got a file" grep -q "$work/demo.socket" "$work/demo.conf"
claim "the steps of systemd and Apache" test "$(grep -cE 'a2ensite|a2dissite|reload apache2|@demo' "$work/system")" = 7

# --- and back, without a trace
claim "config.xml is as it was" cmp "$work/config" "$project/config.xml"
claim "and the tables are" cmp "$work/tables" <(tables_of "$schema")
claim "none of ours is left" test -z "$(rows "SHOW TABLES LIKE 'qm\\_%'")"
claim "stop_sched is gone" not test -e "$project/stop_sched"
claim "no process is left" not runs "$(cat "$work/pid")"
claim "jobs are as they were" test "$(rows "SELECT CONCAT_WS(',', SUM(server_state = 2), SUM(server_state = 4)) FROM result")" = 4,1
claim "BOINC's programs write" sql "$schema" <"$work/writes"
claim "and read" test "$(boinc_reads "$schema" | wc -l)" -ge 4
claim "the backup has the jobs" grep -q job_5_0 "$work/root/demo.sql"
finish
