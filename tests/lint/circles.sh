#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that call each other in a circle are one file in several pieces: none of them can be read by
# itself. Prints the circles that there are, of which there are to be none. A circle is a largest set
# of files of which each reaches each other by calls of functions, or of macros whose text calls
# them. A function that is handed over to be called is not called here.
# shellcheck disable=SC2016 # $ is awk's
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find config db server tools -name '*.[ch]' | sort >"$work/files"
[ -s "$work/files" ] || { echo "circles: no sources were found" >&2; exit 1; }

# Without comments and texts: "FILE defines NAME", "FILE calls NAME", "MACRO expands NAME".
xargs awk '
    FNR == 1 { in_comment = in_macro = 0 }
    {
        line = $0
        out = ""
        while (line != "") {
            if (in_comment) {
                if (!(at = index(line, "*/"))) { line = ""; break }
                line = substr(line, at + 2)
                in_comment = 0
            }
            if (!match(line, /\/\*|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) { out = out line; break }
            out = out substr(line, 1, RSTART - 1) " "
            if (substr(line, RSTART, 2) == "/*") in_comment = 1
            line = substr(line, RSTART + RLENGTH)
        }
        line = out
        if (match(line, /^#define [A-Za-z_0-9]+/)) {
            macro = substr(line, 9, RLENGTH - 8)
            in_macro = 1
            line = substr(line, RLENGTH + 1)
        } else if (line ~ /^#/) {
            next
        }
        if (!in_macro && FILENAME ~ /\.c$/ && line ~ /^[A-Za-z].*\(/ && line !~ /;$|^typedef/) {
            head = line
            what = line ~ /^static/ ? "hides" : "defines"
            sub(/\(.*/, "", head)
            n = split(head, words, /[^A-Za-z_0-9]+/)
            candidate = words[n]
        }
        if (line ~ /^\{/ && candidate != "") {
            print FILENAME, what, candidate
            candidate = ""
        } else if (line ~ /;/)
            candidate = ""
        for (rest = line; match(rest, /[A-Za-z_][A-Za-z_0-9]*\(/); rest = substr(rest, RSTART + RLENGTH))
            if (RSTART == 1 || substr(rest, RSTART - 1, 1) !~ /[.>]/)
                print (in_macro ? macro : FILENAME), (in_macro ? "expands" : "calls"), \
                    substr(rest, RSTART, RLENGTH - 1)
        if (in_macro && line !~ /\\$/)
            in_macro = 0
    }' <"$work/files" | sort -u >"$work/said"

awk '
    function complain(text) { print text > "/dev/stderr"; failed = 1 }
    function add(from, name,    to)
    {
        to = home[name]
        if (to != "" && to != from && !((from, name) in hidden))
            edge[from, to] = 1
    }
    # Everything that is reached from `from` gets the mark.
    function walk(from, mark,    stack, depth, i, n, names)
    {
        depth = 1
        stack[1] = from
        while (depth > 0) {
            from = stack[depth--]
            n = split(next_of[from], names, " ")
            for (i = 1; i <= n; i++)
                if (!((mark, names[i]) in reaches)) {
                    reaches[mark, names[i]] = 1
                    stack[++depth] = names[i]
                }
        }
    }
    $2 == "defines" { home[$3] = $1; files[$1] = 1; definitions++ }
    $2 == "hides" { hidden[$1, $3] = 1 }
    $2 == "calls" && $1 ~ /\.c$/ { uses[$1, $3] = 1 }
    $2 == "expands" { macros[$1] = macros[$1] " " $3 }
    END {
        for (pair in uses) {
            split(pair, part, SUBSEP)
            add(part[1], part[2])
            n = split(macros[part[2]], inner, " ")
            for (i = 1; i <= n; i++)
                add(part[1], inner[i])
        }
        for (pair in edge) {
            split(pair, part, SUBSEP)
            next_of[part[1]] = next_of[part[1]] " " part[2]
            edges++
        }
        if (definitions < 100 || edges < 100)
            complain("circles: hardly any calls were found: functions are written otherwise")
        for (file in files)
            walk(file, file)
        for (file in files) {
            if (!((file, file) in reaches) || (file in done))
                continue
            count = 0
            for (other in files)
                if (((file, other) in reaches) && ((other, file) in reaches)) {
                    done[other] = 1
                    members[++count] = other
                }
            for (i = 2; i <= count; i++) # in order
                for (j = i; j > 1 && members[j - 1] > members[j]; j--) {
                    swapped = members[j]
                    members[j] = members[j - 1]
                    members[j - 1] = swapped
                }
            set = members[1]
            for (i = 2; i <= count; i++)
                set = set " " members[i]
            complain("circles: these call each other in a circle: " set)
        }
        exit failed
    }' "$work/said"
