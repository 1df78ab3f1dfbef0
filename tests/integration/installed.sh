#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is installed: every file stands in the package's list, and that list holds no more; systemd accepts
# the units, and finds them well confined; the users that they name are made; each program has a page for
# man(1), which is flawless, and says its version. The tree is what this build installs, or that of the
# package, which tools/package --check hands over.
#
# usage: installed.sh [TREE]
set -uo pipefail

: "${QM_SOURCE_DIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${QM_BINARY_DIR:=$QM_SOURCE_DIR/build/debug}"
failures=0
say() { printf '%s\n' "$*"; }
claim() {
    local words=$1
    shift
    if "$@"; then say "ok: $words"; else
        failures=$((failures + 1))
        say "FAILED: $words"
    fi
}
not() { ! "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=${1:-}
list=$QM_SOURCE_DIR/debian/quartermaster.install
if [ -z "$tree" ]; then
    tree=$work/tree
    DESTDIR=$tree cmake --install "$QM_BINARY_DIR" --prefix /usr >"$work/log" || cat "$work/log"
    if [ ! -d "$tree/usr/share/man" ]; then # an ordinary build has no pages for man(1)
        while read -r manual; do
            page=$tree/usr/share/man/$("$QM_SOURCE_DIR/tools/man-page" --name "$manual")
            mkdir -p "${page%/*}" && "$QM_SOURCE_DIR/tools/man-page" --date 2026-01-01 "$manual" >"$page"
        done < <(find "$QM_SOURCE_DIR"/{config,server,tools} -name '*.[1-8].md')
    fi

    # What the list has is installed, and what is installed stands in it.
    (cd "$tree" && find . -type f | sed 's|^\./||' | sort) >"$work/installed"
    while read -r pattern _; do
        grep -E "^$(sed 's/[.]/\\./g; s/[*]/[^\/]*/g' <<<"$pattern")(/|\$)" "$work/installed" >"$work/some"
        claim "$pattern of the list is installed" [ -s "$work/some" ]
        cat "$work/some" >>"$work/listed"
    done <"$list"
    sort -u "$work/listed" >"$work/listed.sorted"
    claim "nothing else is" diff "$work/listed.sorted" "$work/installed"
fi

# --- what the package is built with is what tools/packages says
awk '!/^#/ && $2 ~ /build/ && $1 != "build-essential" { print $1 } END { print "lowdown" }' "$QM_SOURCE_DIR/tools/packages" |
    sort >"$work/builds"
awk '/^[A-Z]/ { inside = sub(/^Build-Depends:/, "") } inside' "$QM_SOURCE_DIR/debian/control" | tr ',' '\n' |
    awk 'NF && !/debhelper-compat|dh-sequence/ { print $1 }' | sort >"$work/needs"
claim "debian/control names the packages of tools/packages" diff "$work/builds" "$work/needs"

# --- units: systemd looks at them in a system of their own, with the targets of this one
units=$tree/usr/lib/systemd/system
[ -d "$units" ] || units=$tree/lib/systemd/system
ls "$units" >"$work/units"
mkdir -p "$work/system/usr/lib/systemd" && cp -r "$units" "$work/system/usr/lib/systemd/"
cp -r "$tree/usr/bin" "$work/system/usr/"
mkdir "$work/system/bin" && cp /bin/kill "$work/system/bin/"
for folder in /lib/systemd/system /usr/lib/systemd/system; do
    cp -n "$folder"/*.target "$folder"/*.slice "$work/system/usr/lib/systemd/system/" 2>"$work/not_there"
done
claim "there are units" [ "$(grep -c . "$work/units")" -ge 5 ]
while read -r unit; do
    systemd-analyze verify --man=no --root="$work/system" "${unit/@/@demo}" >"$work/said" 2>&1
    claim "systemd accepts $unit without a word" [ $? = 0 -a ! -s "$work/said" ]
    cat "$work/said"
    case $unit in *.service)
        systemd-analyze security --offline=true --threshold=20 --root="$work/system" "${unit/@/@demo}" >"$work/said" 2>&1
        claim "$unit is exposed below 2.0" [ $? = 0 ]
        tail -n 1 "$work/said"
        ;;
    esac
done <"$work/units"
claim "a reload of the server asks what is wrong first" \
    grep -qzP 'ExecReload=.* --check-config\nExecReload=.*kill -HUP' "$units/quartermaster@.service"
systemd-sysusers --dry-run --root="$work/system" "$tree/usr/lib/sysusers.d/quartermaster.conf" >"$work/users" 2>&1
while read -r user; do
    claim "the user $user of the units is made" grep -q "Creating user '$user'" "$work/users"
done < <(sed -n 's/^User=//p' "$units"/*.service | sort -u)

# --- pages
for page in "$tree"/usr/share/man/man*/*; do
    mandoc -T lint -W warning "$page" >"$work/said"
    claim "${page##*/} is flawless" [ ! -s "$work/said" ]
    cat "$work/said"
done
lost() { # words in `backquotes` that the pages have lost
    local manual
    while read -r manual; do
        mandoc -T utf8 -O width=900 "$tree/usr/share/man/$("$QM_SOURCE_DIR/tools/man-page" --name "$manual")"* | col -b >"$work/text"
        awk -v manual="$manual" 'NR == FNR { text = text $0 "\n"; next }
            { while (match($0, /`[^`]+`/)) {
                word = substr($0, RSTART + 1, RLENGTH - 2)
                $0 = substr($0, RSTART + RLENGTH)
                words++
                if (!index(text, word)) print manual ": " word } }
            END { if (words < 4) print manual ": no words" }' "$work/text" "$manual"
    done < <(find "$QM_SOURCE_DIR"/{config,server,tools} -name '*.[1-8].md')
}
lost >"$work/said"
claim "no page has lost a word of its manual" [ ! -s "$work/said" ]
cat "$work/said"
grep -ohE '(quartermaster|qm)[a-z.-]*\([1-8]\)' "$units"/* | sort -u | tr '()' '. ' | while read -r page; do
    ls "$tree/usr/share/man/man${page##*.}/$page"* || exit 1
done >"$work/said" 2>&1
claim "the pages that units name are there" [ $? = 0 ]
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$QM_SOURCE_DIR/debian/changelog")
for program in "$tree"/usr/bin/*; do
    name=${program##*/}
    claim "$name has a page" [ -n "$(find "$tree/usr/share/man" -name "$name.[18]*")" ]
    claim "$name is of version $version" grep -qF "quartermaster $version" <("$program" --version)
done

say "$failures failures"
[ $failures -eq 0 ]
