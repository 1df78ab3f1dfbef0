#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No script has anything that shellcheck warns of, and every script may be run.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is missing" >&2
    exit 1
fi
mapfile -t scripts < <(
    find . \( -path ./build -o -path ./.git -o -path ./.quickstart -o -path ./tests/captures \) \
        -prune -o -type f -size -200k -print0 |
        LC_ALL=C xargs -0 awk 'FNR == 1 { if (/^#!.*\/(env +)?(ba|da)?sh/) print FILENAME; nextfile }' | sort
)
failed=0
if [ ${#scripts[@]} -eq 0 ]; then
    echo "no scripts were found" >&2
    exit 1
fi
for script in "${scripts[@]}"; do
    if [ ! -x "$script" ]; then
        echo "$script: is not executable" >&2
        failed=1
    fi
done
shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}" || failed=1
exit "$failed"
