#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# GUIDE.md as a reader types it: all of its commands in one shell, with a real client, once with each
# of its web servers. Only what it builds stands elsewhere, and the ports are free ones.
# shellcheck disable=SC2317 # claim calls the functions
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need boinc boinccmd nginx apache2 mariadbd

# follow WEB: begins to go by the page, in a folder and a group of its own: what it leaves running after
# a failure is ended with it.
guides=()
follow() {
    local web=$1 home=$work/$1 web_port
    mkdir "$home"
    take_port
    web_port=$port
    take_port # for the client of its second volunteer
    # shellcheck disable=SC2154,SC2016 # take_port sets the port; the shell of the guide expands the rest
    {
        echo "set -e"
        sed -n '/^```sh$/,/^```$/p' "$QM_SOURCE_DIR/GUIDE.md" | grep -v '^```' |
            sed -e "s|\$PWD/build/release|$QM_BINARY_DIR|; s|8080|$web_port|g; s|31599|$port|g; s|^web=nginx\$|web=$web|"
    } >"$home/guide"
    claim "the page has commands" test "$(wc -l <"$home/guide")" -gt 60
    claim "and one for $web" grep -qx "web=$web" "$home/guide"
    HOME=$home setsid bash "$home/guide" >"$home/guide.log" 2>&1 </dev/null &
    guides+=($!)
}
cd "$QM_SOURCE_DIR" || exit 1
webs=(nginx apache-proxy-fcgi)
for web in "${webs[@]}"; do follow "$web"; done

for i in "${!webs[@]}"; do
    web=${webs[i]} home=$work/${webs[i]}
    wait "${guides[i]}"
    status=$?
    claim "the commands end well with $web" test $status = 0
    [ $status = 0 ] || {
        tail -n 40 "$home/guide.log"
        kill -TERM -- "-${guides[i]}" 2>/dev/null
        "$QM_SOURCE_DIR/tools/private-mariadb" stop "$home/first/db" >/dev/null 2>&1
    }
    for number in 1 2 3; do
        count=$((number * 100))
        claim "sum_$number" test "$(cat "$home/first/answers/sum_$number/out")" = $((count * (count + 1) / 2))
    done
    claim "the scheduler was found to answer" grep -qE '^scheduler .* ok .*answers in' "$home/guide.log"
    claim "Bob joins by his client" grep -qE '^account key: [0-9a-f]{32}$' "$home/guide.log"
    claim "and has a host" grep -qE '^ *2  .*Linux' "$home/guide.log"
    claim "uploads are found to work" not grep -q 'output files cannot be uploaded' "$home/guide.log"
    claim "no client complains" grep -q '^complaints: 0$' "$home/guide.log"
done
finish
