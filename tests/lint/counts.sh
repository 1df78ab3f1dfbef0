#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No output says "1 jobs": a number before a noun is printed by COUNT_FORMAT (server/base/text.h). Bounds of more
# than one ("more than %d files") and lines of the log, which programs read, may say it as they like.
set -euo pipefail
cd "$(dirname "$0")/../.."

nouns='answers|apps|accounts|changes|commands|CPUs|days|elements|errors|files|hosts|hours|jobs|lines|messages|minutes|pieces|requests|results|rows|servers|teams|threads|users|versions|warnings|workunits'
mapfile -t sources < <(git ls-files --cached --others --exclude-standard 'server/*.c' 'config/*.c' 'db/inspect.c' 'tools/qmctl/*.c')
# A format goes on in the next line's string: both are looked at as one.
find_counts() {
    perl -0777 -ne '
        s/"\s*\n\s*"//g;
        s/\s*\n\s*/ /g;
        s/log_(line|event)\((?:[^;"]|"(?:[^"\\]|\\.)*")*;//g;
        while (/(?<!more than )(?<!at most )(?<!of )(?<!the last )(%[zl]*[diu]|%" PRI[diu]64 "|TEXT_FORMAT ") ((?:[a-z]+ )?(?:'"$nouns"'))\b/g) {
            my ($number, $noun) = ($1, $2);
            next if $noun =~ /^(?:is|has|and|of|to|in|s|with) / or $number =~ /TEXT/ && $noun =~ / /;
            print "$ARGV: \"$number $noun\": COUNT_FORMAT\n";
        }' "$@"
}

# It finds what it is for, in one line and in two.
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
printf '%s\n' 'f("%zu files");' 'f("%" PRId64' '  " jobs");' 'f("more than %d files");' 'log_line(L, "%zu jobs");' >"$sample"
[ "$(find_counts "$sample" | wc -l)" = 2 ] || {
    echo "counts.sh finds other than it should:" && find_counts "$sample"
    exit 1
}
found=$(find_counts "${sources[@]}")
[ -z "$found" ] || {
    echo "$found"
    exit 1
}
