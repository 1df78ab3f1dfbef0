#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever runs a statement gives all of its values, and every statement is run by somebody. That no
# value is given which the statement does not have, the compiler sees.
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck disable=SC2016 # $ is awk's
awk '
    FILENAME ~ /\.def$/ { tables = tables $0 "\n" }
    FILENAME ~ /\.c$/ { code = code $0 "\n" }

    # Comments and the insides of strings, which may hold anything, go.
    function plain(text,    out, at)
    {
        while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\/|"([^"\\\n]|\\.)*"/)) {
            at = substr(text, RSTART, 1)
            out = out substr(text, 1, RSTART - 1) (at == "\"" ? "\"\"" : " ")
            text = substr(text, RSTART + RLENGTH)
        }
        return out text
    }
    # From an opening bracket to the one that closes it.
    function bracketed(text,    depth, i, c)
    {
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c ~ /[({]/)
                depth++
            else if (c ~ /[)}]/ && --depth == 0)
                return substr(text, 1, i)
        }
        return text
    }
    function complain(text)
    {
        print text > "/dev/stderr"
        failed = 1
    }
    # What is declared: `STATEMENT(name, COUNT, VALUES, ` or `QUERY(name, rows, VALUES, `.
    function declare(row,    words, name, values)
    {
        split(row, words, /[(,] */)
        name = words[2]
        while (match(row, /(ID|INTEGER|REAL|STRING|BYTES|IDS|STRINGS|ROW|HOST|HOSTS|WORKUNITS)\([a-z_0-9]+/)) {
            values = substr(row, RSTART, RLENGTH)
            sub(/^[A-Z]+\(/, "", values)
            declared[name] = declared[name] " " values
            row = substr(row, RSTART + RLENGTH)
        }
        if (!(name in declared))
            declared[name] = ""
    }
    function give(name, body,    count, values, i)
    {
        is_run[name] = 1
        count = split(declared[name], values, " ")
        for (i = 1; i <= count; i++)
            if (body !~ "\\." values[i] " =")
                complain("db/: " name " is run without its value " values[i])
    }
    END {
        rest = plain(tables)
        while (match(rest, /(STATEMENT|LATER|QUERY)\([a-z_0-9]+,/)) {
            rest = substr(rest, RSTART)
            declare(bracketed(substr(rest, 1, 4000)))
            rest = substr(rest, 2)
        }
        rest = plain(code)
        while (match(rest, /DB_(RUN|RUN_BULK|QUERY|QUERY_AHEAD|ONE|ALL)\([ \n]*db,[ \n]*[a-z_0-9]+|struct [a-z_0-9]+_values\)\{/)) {
            name = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART)
            is_bulk = name ~ /^DB_RUN_BULK/
            if (name ~ /^struct/) {
                gsub(/^struct |_values\)\{$/, "", name)
                body = bracketed(substr(rest, index(rest, "{"), 4000))
            } else {
                sub(/^DB_[A-Z_]+\([ \n]*db,[ \n]*/, "", name)
                body = bracketed(substr(rest, index(rest, "("), 4000))
            }
            if (!(name in declared))
                complain("db/: what is " name "?")
            else if (is_bulk)
                is_run[name] = 1
            else
                give(name, body)
            rest = substr(rest, 2)
        }
        if (length(declared) == 0 || length(is_run) == 0)
            complain("db/: no statements, or nobody runs any: the tables or calls are written otherwise")
        for (name in declared)
            if (!(name in is_run))
                complain("db/: nobody runs " name)
        exit failed
    }' db/statements.def db/admin.def db/files.def db/*.c
