#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Use between rooms goes one way, and each foreign library has one user. The tables below say which;
# the first row whose folder begins a file's path counts.
set -euo pipefail
cd "$(dirname "$0")/../.."

# folder           what of ours it may include (* at the end: everything that begins so)
rooms='
server/base/       server/base/*
config/            config/* server/base/*
db/                db/* config/config.h server/base/*
server/parse/      server/parse/* server/base/*
server/pool/       server/pool/* server/policy/dispatch/stream.h server/project/catalog.h db/db.h db/rows.h db/states.h config/config.h server/base/*
server/policy/     server/policy/* server/parse/message.h db/rows.h db/states.h config/config.h server/base/*
server/submit/     server/submit/* db/* config/config.h server/base/*
server/            server/* db/db.h db/files.h db/rows.h db/states.h config/config.h
tools/volunteers/client/  tools/volunteers/client/* server/base/*
tools/volunteers/host/    tools/volunteers/host/* tools/volunteers/client/* server/base/*
tools/volunteers/wire/    tools/volunteers/wire/* tools/volunteers/host/* tools/volunteers/client/* server/base/*
tools/volunteers/crowd/   tools/volunteers/crowd/* tools/volunteers/wire/* tools/volunteers/host/* tools/volunteers/client/* server/base/*
tools/volunteers/  tools/volunteers/* server/base/*
tools/             tools/* server/* db/* config/config.h
tests/             tests/* tools/volunteers/* server/* db/* config/*
'

# header             the files that may include it
vendors='
mysql.h              db/mariadb_*
libxml/*             server/base/xml.c
openssl/*            server/base/crypto.c
fcgiapp.h            server/process/fcgi.c
curl/*               tools/volunteers/crowd/http_lines.c tools/qmload/* tools/qmctl/* tests/integration/*
cmocka.h             tests/*
fcgi_stdio.h         nobody
'

# shellcheck disable=SC2016 # $ is awk's
find config db server tools tests -name '*.[ch]' | sort | xargs awk -v rooms="$rooms" \
    -v vendors="$vendors" '
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
    BEGIN {
        room_count = split(rooms, room_rows, "\n")
        vendor_count = split(vendors, vendor_rows, "\n")
    }
    function check_ours(header,    i, j, n, words)
    {
        folder = header
        sub(/([a-z]+_internal|[a-z_]+_parts)\.h$/, "", folder)
        if (folder != header && index(FILENAME, folder) != 1 && FILENAME !~ /^tests\//)
            complain("may not include \"" header "\": it is internal to its room")
        for (i = 1; i <= room_count; i++) {
            n = split(room_rows[i], words, " ")
            if (n == 0 || index(FILENAME, words[1]) != 1)
                continue
            for (j = 2; j <= n; j++)
                if (fits(header, words[j]))
                    return
            complain("may not include \"" header "\": use goes one way")
            return
        }
        complain("is in no room")
    }
    function check_vendor(header,    i, j, n, words)
    {
        for (i = 1; i <= vendor_count; i++) {
            n = split(vendor_rows[i], words, " ")
            if (n == 0 || !fits(header, words[1]))
                continue
            for (j = 2; j <= n; j++)
                if (fits(FILENAME, words[j]) || FILENAME ~ /^tests\//)
                    return
            complain("may not include <" header ">: it has another only user")
        }
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
    /^# *include *"/ {
        split($0, parts, "\"")
        if (parts[2] !~ /\.def$/)
            last = parts[2]
        check_ours(parts[2])
    }
    /^# *include *</ {
        split($0, parts, "[<>]")
        last = parts[2]
        check_vendor(parts[2])
    }
    END {
        finish_file()
        exit failed
    }'
