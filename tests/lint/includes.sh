#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Use between rooms goes one way. The list of rooms is in ARCHITECTURE.md, in the block that begins
# with ```rooms: a line for each room, and behind the colon the rooms that it uses. A room may use
# only rooms that stand above it, so there can be no circle. The list is exact: it holds every room
# that there is, and no use that does not happen.
#
# Beside that, each library of others is included only where a table here says so, a room's internal headers (*_parts.h,
# *_internal.h) are its own, and of some rooms only the headers named here are for others.
set -euo pipefail
cd "$(dirname "$0")/../.."

# room     the headers that other rooms may include, where not all are meant for them
doors='
config     config/config.h
db         db/db.h db/fate_rows.h db/figure_rows.h db/files.h db/pass_note.h db/rows.h db/states.h db/validation_rows.h
'

# header             the files that may include it. A header that is neither here nor of the system is refused.
vendors='
mysql.h              db/mariadb_* tests/support/database.c tools/lab/qmstub/main.c
mysqld_error.h       db/mariadb_error.c tests/database/test_db_error.c
errmsg.h             db/mariadb_error.c
libxml/*             server/base/xml.c
openssl/*            server/base/crypto.c
crypt.h              server/base/password.c
fcgiapp.h            server/process/fcgi.c tools/lab/qmstub/main.c
uthash.h             server/fates/fates.c server/pool/stream_clocks.c server/process/waiting.c server/submit/stage.c tools/lab/campaign/*
utlist.h             server/process/body_turns.c server/process/waiting.c server/process/receive.c server/upload/upload_lines.c
jansson.h            server/base/json.c
curl/*               tools/* tests/integration/*
cmocka.h             tests/support/test.h
sanitizer/*          server/base/arena.c tests/unit/test_arena.c
linux/*              tests/unit/test_file.c
'
# Headers of C, POSIX and Linux, which anybody may include.
system=' argp.h arpa/inet.h assert.h ctype.h dirent.h errno.h fcntl.h float.h fnmatch.h ftw.h glob.h grp.h inttypes.h limits.h
 locale.h malloc.h math.h netinet/in.h poll.h pthread.h pwd.h regex.h sched.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h
 stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h sys/epoll.h sys/eventfd.h sys/file.h sys/mman.h sys/prctl.h sys/random.h
 sys/resource.h sys/select.h sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h sys/time.h sys/timerfd.h sys/un.h sys/wait.h time.h
 unistd.h '

# Rooms that may go through any door: commands of an administrator, and what they are made of, speak to all of a database.
door_openers='tools/qmctl* tools/lab/qmbench server/submit server/check server/adoption server/passes server/submission'

# shellcheck disable=SC2016 # backquotes are Markdown's
rooms=$(sed -n '/^```rooms$/,/^```$/p' ARCHITECTURE.md | grep -v '^```' || true)
if [ -z "$rooms" ]; then
    echo 'ARCHITECTURE.md: no block ```rooms' >&2
    exit 1
fi

# shellcheck disable=SC2016 # $ is awk's
find config db server tools tests -name '*.[ch]' -o -name '*.def' | sort | xargs awk -v rooms="$rooms" \
    -v doors="$doors" -v vendors="$vendors" -v openers="$door_openers" -v system_headers="${system//$'\n'/}" '
    function fits(name, pattern)
    {
        if (pattern ~ /\*$/)
            return index(name, substr(pattern, 1, length(pattern) - 1)) == 1
        return name == pattern
    }
    function complain(text)
    {
        printf "%s:%d: %s\n", FILENAME, FNR, text
        failed = 1
    }
    function list_mistake(text)
    {
        printf "ARCHITECTURE.md: rooms: %s\n", text
        failed = 1
    }
    function folder_of(path)
    {
        return match(path, /\/[^\/]*$/) ? substr(path, 1, RSTART - 1) : ""
    }
    # "edf" stands for server/policy/edf, "base" for server/base.
    function room_of(word)
    {
        if (system("test -d server/policy/" word) == 0)
            return "server/policy/" word
        return system("test -d server/" word) == 0 ? "server/" word : word
    }
    function read_rooms(    lines, count, words, n, i, j, room, used)
    {
        count = split(rooms, lines, "\n")
        for (i = 1; i <= count; i++) {
            n = split(lines[i], words, /[: ]+/)
            room = room_of(words[1])
            if (system("test -d " room) != 0)
                list_mistake(words[1] " is no folder")
            for (j = 2; j <= n; j++) {
                if (words[j] == "")
                    continue
                used = room_of(words[j])
                if (!(used in known))
                    list_mistake(words[1] " uses " words[j] ", which does not stand above it")
                allowed[room, used] = 1
            }
            known[room] = 1
        }
    }
    BEGIN {
        read_rooms()
        vendor_count = split(vendors, vendor_rows, "\n")
        door_count = split(doors, door_rows, "\n")
        opener_count = split(openers, opener_rooms, " ")
    }
    function check_door(room, used, header,    i, j, n, words)
    {
        for (i = 1; i <= opener_count; i++)
            if (fits(room, opener_rooms[i]))
                return
        for (i = 1; i <= door_count; i++) {
            n = split(door_rows[i], words, " ")
            if (n == 0 || words[1] != used)
                continue
            for (j = 2; j <= n; j++)
                if (words[j] == header)
                    return
            complain("may not include \"" header "\": it is no header for other rooms")
        }
    }
    function check_ours(header,    room, used)
    {
        room = folder_of(FILENAME)
        used = folder_of(header)
        if (room ~ /^tests/) {
            if (used !~ /^tests/ && !(used in known))
                complain("includes \"" header "\", which is in no room")
            return
        }
        if (!(room in known)) {
            complain("is in no room of ARCHITECTURE.md")
            return
        }
        if (room == used)
            return
        if (header ~ /_(parts|internal)\.h$/)
            complain("may not include \"" header "\": it is internal to its room")
        if (!((room, used) in allowed))
            complain("may not include \"" header "\": ARCHITECTURE.md does not say that " room " uses " used)
        seen[room, used] = 1
        check_door(room, used, header)
    }
    function check_vendor(header,    i, j, n, words)
    {
        for (i = 1; i <= vendor_count; i++) {
            n = split(vendor_rows[i], words, " ")
            if (n == 0 || !fits(header, words[1]))
                continue
            for (j = 2; j <= n; j++)
                if (fits(FILENAME, words[j]))
                    return
            complain("may not include <" header ">: it is for others")
            return
        }
        if (index(system_headers, " " header " ") == 0)
            complain("may not include <" header ">: it is neither among the vendors nor of the system")
    }
    # The last include of a source poisons the functions that this project does without.
    function finish_file()
    {
        if (previous ~ /\.c$/ && previous !~ /^tests\// && last != "server/base/banned.h") {
            printf "%s: server/base/banned.h is not included last\n", previous
            failed = 1
        }
        last = ""
    }
    FNR == 1 {
        finish_file()
        previous = FILENAME
    }
    /^[ \t]*#[ \t]*include/ && !/^#include ["<]/ {
        complain("write it as #include \"...\" or #include <...>, at the beginning of the line")
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, parts, "\"")
        if (parts[2] !~ /\.def$/)
            last = parts[2]
        check_ours(parts[2])
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        split($0, parts, "[<>]")
        last = parts[2]
        vendor_uses++
        check_vendor(parts[2])
    }
    END {
        finish_file()
        if (vendor_uses == 0) {
            print "no file includes anything: the folders where this looks are empty"
            failed = 1
        }
        for (pair in allowed)
            if (!(pair in seen)) {
                split(pair, parts, SUBSEP)
                list_mistake(parts[1] " does not use " parts[2])
            }
        exit failed
    }'
