#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An emulated crowd that finds its schedulers on a master page. Of the two that it names one is dead,
# and later the other dies too and the page names a third: hosts try one after the other, read the page
# again after ten failures, and lose nothing.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
begin=1767225600
moved=$((begin + 36 * 3600))
dead=http://127.0.0.1:1/cgi

# move.sh, as a transition: in its first turn the first server ends, and the page names the second.
cat >"$work/move.sh" <<'MOVE'
#!/bin/bash
# move.sh NAME: once.
cd "$(dirname "$0")" || exit 1
[ -e "$1.pid" ] || exit 0
pid=$(cat "$1.pid")
rm "$1.pid"
kill -TERM "$pid"
while [ -d "/proc/$pid" ] && [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ]; do sleep 0.05; done
cp "$1.page" "$1/html/user/index.html"
MOVE

# run NAME FETCH SEED [OPTION...]: a fresh project with two servers of its own, four days.
run() {
    local name=$1 fetch=$2 seed=$3 first second
    shift 3
    schema=qm_integration_$$_$name
    project=$work/$name
    program=$work/bin/quartermaster-$name
    new_project "<max_wus_to_send>0</max_wus_to_send>"
    add_jobs 3000
    rows "UPDATE workunit SET rsc_fpops_est = 1e14, rsc_fpops_bound = 1e16"
    start_server "$name-1" --clock=request
    echo "$server_pid" >"$work/$name.pid"
    start_server "$name-2" --clock=request
    start_nginx --failures "$work/$name-1.socket"
    first=$url
    start_nginx --failures "$work/$name-2.socket"
    second=$url
    printf '<scheduler>%s</scheduler>\n' "$dead" "$first" >"$project/html/user/index.html"
    printf '<link rel="boinc_scheduler" href="%s">\n' "$second" >"$work/$name.page"
    chmod a+r "$project/html/user/index.html" "$work/$name.page"
    printf 'hosts 8\ndays 4\nalways_on 1\ntransition_hours 36\nfetch %s\nseed %s\nrun debt\n' \
        "$fetch" "$seed" >"$work/$name.crowd"
    "$QM_BINARY_DIR/qmvolunteers" --master --authenticator "$account" --csv "$work/$name.csv" \
        --transition "bash $work/move.sh $name" "$@" "$work/$name.crowd" \
        "${first%_cgi/cgi}/" >"$work/$name.json" 2>"$work/$name.err"
    claim "$name: a crowd lives to the end" test $? -eq 0
    tail -n 3 "$work/$name.err"
}
of() { sql "qm_integration_$$_$1" -e "$2"; }
figure() { sed -n "s/.*\"$2\": \([0-9.]*\).*/\1/p" "$work/$1.json"; }
pages() { sed -n 's/^\([0-9]*\) times a master page was read$/\1/p' "$work/$1.err"; }

look() {
    local name=$1
    claim "$name: each machine is one host" test "$(of "$name" "SELECT COUNT(*) FROM host")" = 8
    claim "$name: what the first server sent came before it died" test "$(of "$name" "SELECT COUNT(*)
        FROM result WHERE sent_time BETWEEN $begin AND $moved")" -gt 50
    claim "$name: every host found the second" test "$(of "$name" "SELECT COUNT(*) FROM host
        WHERE rpc_time > $moved")" = 8
    claim "$name: which sends jobs" test "$(of "$name" "SELECT COUNT(*) FROM result
        WHERE sent_time > $moved")" -gt 50
    claim "$name: not before it knew of ten failures" test "$(of "$name" "SELECT COUNT(*) FROM result
        WHERE sent_time BETWEEN $moved + 1 AND $moved + 4 * 3600")" = 0
    # At attach and after the move; nobody had another ten failures.
    claim "$name: each read the page twice" test "$(pages "$name")" = 16
    claim "$name: jobs are not lost by it" test "$(figure "$name" lost_acks)" = 0
    claim "$name: what was done is reported to the second" test "$(of "$name" "SELECT COUNT(*)
        FROM result WHERE server_state = 5 AND sent_time < $moved AND received_time > $moved")" -gt 7
}

run sessions sessions 5
look sessions
# In sessions the first on the page is tried first: each contact of the living one is a second try, and
# ten failures of both are another ten of the dead one.
claim "sessions: the dead one is named" grep -q "$dead: no server there" "$work/sessions.err"
claim "sessions: it fails each time" test "$(figure sessions failed_rpcs)" -gt 160

run marks marks 5
look marks

run again sessions 5 --quiet
claim "the same seed gives the same days" cmp "$work/sessions.csv" "$work/again.csv"

"$QM_BINARY_DIR/qmvolunteers" --quiet --master --authenticator "$account" "$work/again.crowd" \
    "$url" >"$work/none.json" 2>"$work/none.err"
claim "a scheduler is no master page" test $? -eq 1
claim "which is said" grep -q "^qmvolunteers: $url: " "$work/none.err"
cat "$work/none.err"
finish
