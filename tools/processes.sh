# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What scripts share that start processes of their own on this machine: waiting for something,
# whether a process runs, ports that nobody else takes. To be sourced.

# Whatever the person has set: numbers have a point, messages are English, and cd prints nothing.
export LC_ALL=C.UTF-8 CDPATH=

# within SECONDS COMMAND...: waits up to so long until the command succeeds.
within() {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.05
    done
}

# runs [PID]: a process that has ended and was not waited for runs no more.
runs() { [ -n "${1:-}" ] && [ -d "/proc/$1" ] && [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" != Z ]; }
ended() { ! runs "$1"; }

# answers URL: the scheduler behind it says who it is.
answers() { curl -s --max-time 5 "$1" | grep -q scheduler; }

# find_port: a port of the loopback that nobody listens on, in $port. Nobody else finds it while this
# shell and what it starts run: each port has a lock, held by an open file.
find_port() {
    local lock
    # Another user's locks cannot be opened, so each has a folder.
    mkdir -p "/tmp/qm-ports-$UID"
    for _ in {1..1000}; do
        port=$((20000 + RANDOM % 12000))
        exec {lock}>"/tmp/qm-ports-$UID/$port" || break
        flock -n "$lock" && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        exec {lock}>&-
    done
    return 1
}
