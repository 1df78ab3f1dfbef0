#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/bench measures what it says: in a short run the server and the stub answer every request, a host gets
# and reports as many jobs as the shape has, jobs go through their whole life, and a job that is with
# another host than the one that got it is found. The figures themselves are not looked at.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
# So few hosts have all been there before what counts, on any machine.
bench() { "$QM_SOURCE_DIR/tools/bench" --short --hosts 20 --dir "$work/bench" --csv "$work/figures" "$@" >"$work/table" 2>"$work/bench.log"; }
# column NAME: its number in the file of figures.
column() { head -n 1 "$work/figures" | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
# value PART SCHEDULER NAME: a figure.
value() {
    awk -F, -v part="$1" -v kind="$2" -v number="$(column "$3")" "\$1 == part && \$3 == kind {print \$number}" "$work/figures"
}
# shellcheck disable=SC2317 # claim calls them
between() { awk -v least="$1" -v most="$2" -v one="$3" 'BEGIN {exit !(one != "" && one >= least && one <= most)}'; }
# shellcheck disable=SC2317 # as above
some() { between 0.01 1e9 "$1"; }
bench --shapes iv --parts "shapes apart life drain mix" --report "$work/page.md"
claim "it measures" test $? = 0
cat "$work/table"
for server in quartermaster stub; do
    each=$(awk "BEGIN {print $(value shapes $server jobs_per_s) / $(value shapes $server requests_per_s)}")
    claim "$server: 5 jobs for each request" between 4.5 5.5 "$each"
    claim "$server: 5 reports" between 4.5 5.5 "$(value shapes $server reports)"
done
length=$(value shapes stub reply_bytes)
claim "both answer with as many bytes" between "$(awk "BEGIN {print $length - 200}")" "$(awk "BEGIN {print $length + 200}")" \
    "$(value shapes quartermaster reply_bytes)"
for name in jobs_per_s reports_per_s passed_per_s job_ms verified; do
    claim "the whole life: $name" some "$(value life quartermaster $name)"
done
for name in drained_jobs drained_s passed_per_s; do
    claim "what is left to do: $name" some "$(value drain quartermaster $name)"
done
claim "a crowd gets jobs" some "$(value mix quartermaster jobs_per_s)"
claim "and reports some" some "$(value mix quartermaster reports_per_s)"
claim "each can have its own COMMIT" some "$(value apart quartermaster jobs_per_s)"
claim "the page has a table of each part" test "$(grep -c '^## ' "$work/page.md")" = 6
claim "and a picture, where gnuplot is" test -s "$work/page.svg" -o -z "$(command -v gnuplot)"

# A server that tells a host of a job which the database has with another: two machines of qmload, whose
# hosts are exchanged before the look.
cat >"$work/exchange.sh" <<'SCRIPT'
. "$QM_SOURCE_DIR/tools/lab/measuring/site.sh"
read_words dir="$1" hosts=2 connections=2 warm_up=1 seconds=1
make_site 1 1000
start_site
load --keep
verify
[ "$2" = honest ] || rows "UPDATE host SET domain_name = CONCAT('load-', 1 - RIGHT(domain_name, 1))"
verify
SCRIPT
"$QM_SOURCE_DIR/tools/private-mariadb" start "$work/bench/mariadb" || exit 1
bash "$work/exchange.sh" "$work/bench" honest >"$work/exchange.log" 2>&1
claim "jobs are with the hosts that got them" test $? = 0
bash "$work/exchange.sh" "$work/bench" exchanged >"$work/exchange.log" 2>&1
claim "jobs that are with others are found" test $? = 3
"$QM_SOURCE_DIR/tools/private-mariadb" stop "$work/bench/mariadb"
"$QM_BINARY_DIR/qmload" --authenticator x --hosts 1 --requests 1 --warm-up 60 http://127.0.0.1:1/ >"$work/table" 2>&1
claim "a load that ends within its warm-up is none" test $? = 1
claim "and has no figures" not grep -q p99 "$work/table"
bench --shapes v
claim "a shape that there is not is refused" test $? = 2
bench --parts lives
claim "and so is a part" test $? = 2
bench --parts drain --loops 0
claim "and that nobody drains" test $? = 2
finish
