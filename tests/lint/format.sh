#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is as clang-format makes it (the target "format" does) and begins with its licence.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v clang-format >/dev/null; then
    echo "clang-format is missing" >&2
    exit 1
fi
mapfile -t files < <(find config db server tests tools -name '*.[ch]' | sort)
failed=0
if [ ${#files[@]} -eq 0 ]; then
    echo "no sources were found" >&2
    exit 1
fi
clang-format --dry-run --Werror "${files[@]}" || failed=1
for file in "${files[@]}"; do
    if [ "$(head -n 1 "$file")" != "/* SPDX-License-Identifier: Apache-2.0 */" ]; then
        echo "$file: the first line is not the licence tag" >&2
        failed=1
    fi
done
# What clang-format does not look at: tables, scripts and documents.
while IFS= read -r file; do
    if LC_ALL=C grep -nP '[ \t]+$|\t' "$file" | sed "s|^|$file:|;s|\$| <- tab or blank at the end|" |
        grep .; then
        failed=1
    fi
done < <(find . \( -path ./build -o -path ./.git -o -path ./.quickstart -o -path ./tests/captures \
    -o -path '*corpus*' \) -prune -o -type f \( -name '*.def' -o -name '*.sh' -o -name '*.md' \
    -o -name CMakeLists.txt \) -print)
# An empty line within a table of a document ends it: what follows is shown as text full of strokes.
mapfile -t documents < <(find . \( -path ./build -o -path ./.git -o -path ./.quickstart \) -prune -o -name '*.md' -print)
awk 'function end() { if (rows == 1) { print last ": a row outside of a table"; bad = 1 } rows = 0 }
     FNR == 1 { end(); code = 0 }
     /^```/ { code = !code }
     code || !/^\|/ { end(); next }
     { last = FILENAME ":" FNR }
     ++rows == 2 && !/^\|[-:| ]+\|$/ { print last ": a row of a table without a head"; bad = 1 }
     END { end(); exit bad }' "${documents[@]}" >&2 || failed=1
exit "$failed"
