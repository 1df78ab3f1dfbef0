# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the measurements of tools/bench have in common: a project with accounts and rows, servers behind a
# web server, what all of them used meanwhile, and whether the hosts have the jobs that the database says.
# To be sourced. Figures are lines of name and value on standard output.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../../tests/integration/lib.sh"

# What a measurement is told, as NAME=VALUE; what is not said is as here.
kind=quartermaster shape=i jobs=0 connections=32 processes=1 threads=8 hosts=2000 rows_wanted=1000 rate=0
seconds=20 warm_up=8 bytes=0 refill=no per_commit=8 old=10 dir='' against='' prepare=''
read_words() {
    local word
    for word; do
        case ${word%%=*} in
        kind | shape | jobs | connections | processes | threads | hosts | rows_wanted | rate | seconds | warm_up | \
            bytes | refill | per_commit | quorum | loops | drain | old | dir | against | prepare) printf -v "${word%%=*}" %s "${word#*=}" ;;
        *) stop "no word $word" ;;
        esac
    done
}

# stop WORDS: no figures.
stop() {
    echo "bench: $kind, shape $shape: $*" >&2
    exit 1
}
figure() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$work/load.json"; }

# make_site LIMIT ROWS: a project whose hosts get LIMIT jobs at a time (0: as many as they ask for), with
# 200 accounts and ROWS unsent jobs.
make_site() {
    [ "$dir" = '' ] || QM_TEST_SOCKET=$(readlink -f "$dir/mariadb/socket")
    new_project "<download_dir>$project/download</download_dir>" "<max_wus_to_send>$1</max_wus_to_send>" \
        "<daily_result_quota>1000000</daily_result_quota>" "<untried_quota>0</untried_quota>" "<max_wus_in_progress>1000000</max_wus_in_progress>" \
        "<min_sendwork_interval>0</min_sendwork_interval>" "<requests_per_commit>$per_commit</requests_per_commit>" \
        "<upload_url>${upload_url:-http://127.0.0.1/test/upload}</upload_url>" "<upload_dir>$project/upload</upload_dir>" \
        "<uldl_dir_fanout>1024</uldl_dir_fanout>" "<upload_min_free_gb>0</upload_min_free_gb>" "<threads>$threads</threads>" >&2
    rows "SET sql_mode = ''; DELETE FROM user; INSERT INTO user (id, create_time, email_addr, name, authenticator)
        SELECT seq, 1700000000, CONCAT(seq, '@example.org'), seq, LPAD(LOWER(HEX(seq)), 32, '0') FROM seq_1_to_200"
    [ "$2" = 0 ] || add_jobs "$2"
    rows "ANALYZE TABLE workunit, result, host" >"$work/analyzed"
}
accounts=()
for ((i = 1; i <= 200; i++)); do accounts+=(--authenticator "$(printf '%032x' "$i")"); done

server_pids=() database_pid='' web_pid=''
# start_site: what `kind` says, behind a web server at $url; servers go by the folder $served, if one is set.
start_site() {
    local i sockets=() project=${served:-$project}
    case $kind in
    quartermaster)
        for ((i = 1; i <= processes; i++)); do
            start_server "$kind$i"
            server_pids+=("$server_pid")
            sockets+=("$work/$kind$i.socket")
        done
        ;;
    stub)
        rows "SET sql_mode = ''; INSERT INTO host (id, create_time, userid, host_cpid, p_vendor, p_model, os_name)
            SELECT seq, 1700000000, 1 + (seq - 1) % 200, MD5(seq), 'GenuineIntel', 'Emulated', 'Linux'
            FROM seq_1_to_$hosts"
        "$QM_BINARY_DIR/qmstub" --listen "$work/stub.socket" --db-socket "$QM_TEST_SOCKET" --db-name "$schema" \
            --threads "$threads" --jobs "$jobs" --bytes "$bytes" --hosts "$hosts" >"$work/stub.log" 2>&1 &
        server_pids=($!)
        started+=("${server_pids[@]}")
        within 15 test -S "$work/stub.socket" || stop "it does not start"
        sockets=("$work/stub.socket")
        ;;
    cgi)
        start_web apache apache-cgi --program "$program" >&2 || stop "no web server"
        ;;
    esac
    [ ${#sockets[@]} = 0 ] || start_nginx "${sockets[@]}" >&2
    database_pid=$(cat "$dir/mariadb/pid")
    web_pid=$(cat "$work"/{nginx1,apache}/pid 2>/dev/null)
}
# Time for the pools to fill, which is no part of what is measured.
await_pools() {
    local i
    [ "$kind" = quartermaster ] || return 0
    for ((i = 1; i <= processes; i++)); do
        within 120 grep -q event=pool_swept "$work/$kind$i.log" || stop "the pool does not fill"
    done
}
memory_mb() { # the most that the servers had
    local pid
    for pid in "${server_pids[@]}"; do sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"; done |
        awk '{sum += $1} END {printf "%.0f\n", sum / 1024}'
}

# cpu PID...: their CPU time so far with that of their children that have ended, in ticks.
cpu() {
    local pid
    for pid; do sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null; done | awk '{sum += $12 + $13 + $14 + $15} END {print sum + 0}'
}
workers_of() { [ -z "$1" ] || pgrep -P "$1"; }
# readings LOADER: the time in s; ticks of servers, database, web server and loader; then what the database counts.
readings() {
    # shellcheck disable=SC2046 # numbers of processes
    echo "$(date +%s.%N) $(cpu "${server_pids[@]}") $(cpu "$database_pid") $(cpu $(workers_of "$web_pid"))" "$(cpu "$1")" \
        $(sql -e "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_data_fsyncs', 'Innodb_lsn_current', 'Questions')" |
            sort | cut -f 2)
}
# used BEFORE AFTER: what one request took, from two readings during the load.
used() {
    if [ -z "$2" ]; then
        echo "bench: the load ended before the second reading: no CPU times nor statements" >&2
        return
    fi
    echo "$1 $2 $(figure requests_per_second)" | awk -v ticks="$(getconf CLK_TCK)" '{
        split("time server_ms db_ms web_ms load_ms fsyncs redo_bytes statements", names)
        requests = ($9 - $1) * $17
        for (i = 2; i <= 8; i++) {
            each = ($(i + 8) - $i) / requests
            print names[i], i <= 5 ? each / ticks * 1000 : each
        }
    }'
}

# What all commits wait for: how long a small write takes that the disk confirms, in ms.
sync_ms() {
    local begun ended
    begun=$(date +%s%N)
    dd if=/dev/zero of="$dir/sync" bs=512 count=100 oflag=dsync 2>/dev/null || return
    ended=$(date +%s%N)
    rm -f "$dir/sync"
    echo "sync_ms $(awk "BEGIN {print ($ended - $begun) / 100 / 1e6}")"
}

# load OPTION...: emulated hosts for warm-up, seconds and a little more; $before and $after are readings that
# lie so many seconds apart, while all is under way.
load() {
    local loader
    [ "$old" = 0 ] || set -- --old "$old" "$@"
    sync_ms
    "$QM_BINARY_DIR/qmload" "${accounts[@]}" --hosts "$hosts" --connections "$connections" --warm-up "$warm_up" \
        --time $((warm_up + seconds + 3)) --ncpus 1 --empty 1000000 --seed 1 --json --jobs "$work/got" "$@" "$url" \
        >"$work/load.json" 2>"$work/load.log" &
    loader=$!
    started+=("$loader")
    sleep "$warm_up"
    before=$(readings "$loader")
    sleep "$seconds"
    after=$(readings "$loader")
    # On a machine that is too busy to read in time there is no such figure.
    runs "$loader" || after=''
    wait "$loader"
    loaded=$?
}
# A run in which requests failed, or most got other than was meant, is no measurement.
require_answers() {
    local name
    for name in failed down later; do
        [ "$(figure $name)" = 0 ] || {
            for said in "$work/load.log" "$work"/quartermaster*.log "$work/stub.log"; do
                [ ! -s "$said" ] || head -n 3 "$said" >&2
            done
            stop "exit status $loaded, $(cat "$work/load.json")"
        }
    done
}
# print_load: the figures of the load, all but what others used.
print_load() {
    local name
    for name in p50 p99 p999 longest; do echo "${name}_ms $(figure $name)"; done
    echo "requests_per_s $(figure requests_per_second)"
    echo "jobs_per_s $(figure jobs_per_second)"
    awk -v requests="$(figure requests)" -v elapsed="$(figure elapsed)" -v acked="$(figure acked)" \
        -v bytes="$(figure bytes_in)" -v empty="$(figure empty)" 'BEGIN {
            print "reports_per_s", acked / elapsed
            print "reports", acked / requests
            print "reply_bytes", bytes / requests
            print "empty_part", empty / requests
        }'
}

# verify: every job that a host was given since the warm-up is in progress or over for this host and no
# other. Exit status 3: it is not.
verify() {
    local wrong twice checked
    twice=$(figure jobs_duplicate)
    # shellcheck disable=SC2154 # by lib.sh
    wrong=$(sql --local-infile=1 "$schema" -e "
        CREATE TEMPORARY TABLE got (name VARCHAR(254) NOT NULL, host INT NOT NULL) CHARACTER SET latin1;
        LOAD DATA LOCAL INFILE '$work/got' INTO TABLE got FIELDS TERMINATED BY ' ';
        SELECT COUNT(*) FROM got LEFT JOIN result ON result.name = got.name LEFT JOIN host ON host.id = result.hostid
        WHERE NOT (server_state IN (4, 5) AND domain_name = CONCAT('load-', got.host)) OR host.id IS NULL")
    checked=$(wc -l <"$work/got")
    if [ "$wrong" != 0 ] || [ "$twice" != 0 ]; then
        echo "bench: $kind, shape $shape: of $checked jobs $wrong are not as the database says, $twice went to two hosts" >&2
        exit 3
    fi
    echo "verified $checked"
}
