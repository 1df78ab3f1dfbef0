#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy has nothing to say about the sources that are built (.clang-tidy lists its checks), and
# clang has no warning for those of the tests. The compile commands are those of a build folder of its
# own, so that clang is asked whatever this build was made with. Of each function the analyzer looks at
# 50,000 states; with QM_TIDY_STATES=225000, its own default, it takes five times as long.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v clang-tidy >/dev/null; then
    echo "clang-tidy is missing" >&2
    exit 1
fi
commands="${QM_BINARY_DIR:-build/debug}/tidy"
cmake -S . -B "$commands" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
output="$commands/output"
mapfile -t sources < <(find config db server tools -name '*.c' | sort)
mapfile -t tests < <(find tests -name '*.c' -not -path 'tests/fuzz/*' | sort)
if [ ${#sources[@]} -eq 0 ] || [ ${#tests[@]} -eq 0 ]; then
    echo "no sources were found" >&2
    exit 1
fi
analyzer=(--extra-arg=-Xclang --extra-arg=-analyzer-config
    --extra-arg=-Xclang --extra-arg="max-nodes=${QM_TIDY_STATES:-50000}")
# ask SOURCES OPTION...: clang-tidy, as many at a time as there are processors.
ask() {
    local -n asked=$1
    shift
    printf '%s\n' "${asked[@]}" | xargs -n 4 -P "$(nproc)" clang-tidy --quiet -p "$commands" "$@" \
        >>"$output" 2>>"$output.log"
}
: >"$output"
: >"$output.log"
# Beside clang's own warnings it wants one check.
warnings='-*,clang-diagnostic-*,readability-misleading-indentation'
ask sources "${analyzer[@]}" && ask tests --checks="$warnings" && exit 0
grep -hE ': (fatal )?error:' "$output" "$output.log" | sort -u || tail -n 20 "$output.log"
exit 1
