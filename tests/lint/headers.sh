#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone, so that nobody has to know what to include before it, and its guard is
# its path. Where the first thing in the source of the same name is the header, whoever builds it has tried.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in gcc pkg-config; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is missing" >&2
        exit 1
    fi
done
flags=$(pkg-config --cflags libxml-2.0 libmariadb libcrypto libcurl fcgi cmocka)
failed=0 headers=0
while IFS= read -r header; do
    headers=$((headers + 1))
    guard=$(tr 'a-z/.-' 'A-Z___' <<<"$header")
    if ! grep -q "^#ifndef $guard\$" "$header"; then
        echo "$header: the guard is not $guard" >&2
        failed=1
    fi
    first=$(grep -m 1 '^#' "${header%.h}.c" 2>/dev/null) || true
    [ "$first" != "#include \"$header\"" ] || continue
    # shellcheck disable=SC2086 # several flags
    if ! printf '#include "%s"\nextern int nothing;\n' "$header" |
        gcc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror \
            -fsyntax-only -I. $flags -x c -; then
        echo "$header: does not compile alone" >&2
        failed=1
    fi
done < <(find config db server tests tools -name '*.h' | sort)
if [ $headers -eq 0 ]; then
    echo "no headers were found" >&2
    failed=1
fi
exit "$failed"
