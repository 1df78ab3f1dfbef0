#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# GUIDE.md as a reader types it: all of its commands in one shell, with a real client. Only what it
# builds stands elsewhere, and the port is a free one.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need boinc boinccmd nginx mariadbd

take_port
script=$work/guide
# shellcheck disable=SC2154,SC2016 # take_port sets the port; the shell of the guide expands the rest
{
    echo "set -e"
    sed -n '/^```sh$/,/^```$/p' "$QM_SOURCE_DIR/GUIDE.md" | grep -v '^```' |
        sed -e "s|\$PWD/build/release|$QM_BINARY_DIR|; s|8080|$port|g"
} >"$script"
claim "the page has commands" test "$(wc -l <"$script")" -gt 60
export HOME=$work
cd "$QM_SOURCE_DIR" || exit 1
# A group of its own: what it leaves running after a failure is ended with it.
setsid bash "$script" >"$work/guide.log" 2>&1 </dev/null &
guide=$!
wait "$guide"
claim "they end well" test $? = 0
[ "$failures" = 0 ] || {
    tail -n 40 "$work/guide.log"
    kill -TERM -- "-$guide" 2>/dev/null
    "$QM_SOURCE_DIR/tools/private-mariadb" stop "$work/first/db" >/dev/null 2>&1
}
for number in 1 2 3; do
    count=$((number * 100))
    claim "sum_$number" test "$(cat "$work/first/answers/sum_$number/out")" = $((count * (count + 1) / 2))
done
claim "Bob joins by his client" grep -qE '^account key: [0-9a-f]{32}$' "$work/guide.log"
claim "and has a host" grep -qE "^ *2  .*Linux" "$work/guide.log"
claim "uploads are found to work" not grep -q 'output files cannot be uploaded' "$work/guide.log"
claim "no client complains" grep -q '^complaints: 0$' "$work/guide.log"
finish
