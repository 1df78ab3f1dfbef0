#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No script has anything that shellcheck warns of, every script may be run, and none goes by what whoever runs it has set
# for a shell: with LC_ALL awk and printf would write 1,5 for 1.5, and with CDPATH cd prints where it has come to.
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
    # Of debhelper, by tests/CMakeLists.txt, and what runs on volunteers' machines.
    case $script in ./debian/* | ./tests/lint/* | ./tools/demo/app) continue ;; esac
    grep -q '^export LC_ALL=C.UTF-8 CDPATH=' "$script" && continue
    # shellcheck disable=SC2016 # the text of a script
    if grep -qF '$(cd "$(dirname' "$script" || ! grep -qE '/(processes|lib|site)\.sh"$' "$script"; then
        echo "$script: does not begin with export LC_ALL=C.UTF-8 CDPATH=" >&2
        failed=1
    fi
done
[ "$failed" = 0 ] || exit 1
shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}" || failed=1
exit "$failed"
