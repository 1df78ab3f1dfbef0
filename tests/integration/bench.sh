#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/bench measures what it says: in a short run both the server and the stub answer every request, and a
# host gets and reports as many jobs as the shape has. The figures themselves are not looked at.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need curl nginx
"$QM_SOURCE_DIR/tools/bench" --short --shapes iv --dir "$work/bench" --csv "$work/figures" >"$work/table" 2>"$work/bench.log"
claim "it measures" test $? = 0
cat "$work/table"
for server in quartermaster stub; do
    # shellcheck disable=SC2016 # $ is awk's. Columns: 3 requests/s, 4 jobs/s, 11 bytes, 12 reports of a request.
    claim "$server: 5 jobs and 5 reports for each request" awk -F, -v server=$server '
        $2 == server && $4 / $3 > 4.5 && $4 / $3 < 5.5 && $12 > 4.5 && $12 < 5.5 {ok = 1} END {exit !ok}' "$work/figures"
done
# shellcheck disable=SC2016 # the same
claim "both answer with as many bytes" awk -F, 'NR > 1 {bytes[$2] = $11}
    END {d = bytes["quartermaster"] - bytes["stub"]; exit !(d < 200 && d > -200)}' "$work/figures"
"$QM_BINARY_DIR/qmload" --authenticator x --hosts 1 --requests 1 --warm-up 60 http://127.0.0.1:1/ >"$work/table" 2>&1
claim "a load that ends within its warm-up is none" test $? = 1
claim "and has no figures" not grep -q p99 "$work/table"
"$QM_SOURCE_DIR/tools/bench" --shapes v >"$work/table" 2>&1
claim "a shape that there is not is refused" test $? = 2
finish
