#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is installed: every file stands in the package's list, and that list holds no more; systemd accepts
# the units, and finds them well confined; the users that they name are made; each program has a page for
# man(1), which is flawless, and says its version. The tree is what this build installs, or that of the
# package, which tools/package --check hands over.
#
# usage: installed.sh [TREE]
set -uo pipefail
export LC_ALL=C.UTF-8 CDPATH=

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
        claim "$unit is tried again for ever" grep -qx StartLimitIntervalSec=0 "$units/$unit"
        tail -n 1 "$work/said"
        ;;
    esac
done <"$work/units"
# What qmctl deploy puts beside them for a project of another owner that keeps its uploads elsewhere.
mkdir -p "$work/p" "$work/projects" "$work/system/etc/systemd/system"
echo "<boinc><config><master_url>http://localhost/demo/</master_url><upload_dir>/data</upload_dir></config></boinc>" \
    >"$work/p/config.xml"
[ "$(id -u)" != 0 ] || chown daemon:daemon "$work/p"
claim "drop-ins are written" "$tree/usr/bin/qmctl" --project "$work/p" deploy systemd --group daemon --units \
    "$work/system/etc/systemd/system" --projects "$work/projects" >"$work/said"
(cd "$work/system/etc/systemd/system" && grep -hE '^(User|Group|ReadWritePaths|SocketGroup)=' -- *.d/*) | sort | uniq -c |
    awk '{ print $1, $2 }' >"$work/set"
owner=$(stat -c %U "$work/p") group=$(stat -c %G "$work/p")
claim "for each of the units" diff - "$work/set" <<SET
3 Group=$group
2 ReadWritePaths=/data
2 SocketGroup=daemon
2 User=$owner
SET
claim "and a link" [ "$(readlink "$work/projects/demo")" = "$work/p" ]
while read -r unit; do
    systemd-analyze verify --man=no --root="$work/system" "${unit/@/@demo}" >"$work/said" 2>&1
    claim "systemd accepts what is beside $unit" [ $? = 0 -a ! -s "$work/said" ]
    cat "$work/said"
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

# --- completion: each shell knows of each subcommand what its help says
qmctl=$tree/usr/bin/qmctl
cat >"$work/ask.bash" <<'ASK'
. "$1"
while read -r -a words; do
    COMP_WORDS=(qmctl "${words[@]/#<>/}") COMP_CWORD=${#words[@]}
    _qmctl
    for word in "${COMPREPLY[@]-}"; do printf '%s\t%s\n' "${words[*]}" "$word"; done
done
ASK
# Functions of zsh's completion that say what they are asked for; "rest" is the state in which an argument is wanted.
cat >"$work/ask.zsh" <<'ASK'
_arguments() { shift 2; said+=("${@#\*}"); state=rest }
_describe() { said+=("${(@P)4}") }
compadd() { shift; said+=("$@") }
_files() { said+=(files) }
while read -r line; do
    words=(qmctl ${(s: :)line}) CURRENT=$#words said=()
    words[-1]=${words[-1]#<>}
    . $1
    for word in $said; do print -r -- $line$'\t'${word%%[\[:]*}; done
done
ASK
# ask: each line of standard input is a command line, whose last word is to be completed; <> is an empty one.
ask() {
    bash "$work/ask.bash" "$tree/usr/share/bash-completion/completions/qmctl" <"$1" | sort >"$work/bash"
    zsh -f "$work/ask.zsh" "$(find "$tree/usr/share/zsh" -name _qmctl)" <"$1" | sort >"$work/zsh"
}
"$qmctl" --help | sed -n 's/^  \([a-z][a-z -]*[a-z]\)  .*/\1/p' >"$work/subcommands"
claim "there are subcommands" [ "$(grep -c . "$work/subcommands")" -gt 30 ]
while read -r subcommand; do
    # shellcheck disable=SC2086 # one word or two
    "$qmctl" $subcommand --help | sed -nE "s/^  (--[a-z_-]+).*/$subcommand --\t\1/p"
done <"$work/subcommands" | sort >"$work/help"
sed 's/$/ --/' "$work/subcommands" >"$work/questions"
ask "$work/questions"
claim "bash completes each option of each subcommand" diff "$work/help" "$work/bash"
grep -- '--[^\t]*--' "$work/zsh" >"$work/options"
claim "so does zsh" diff "$work/help" "$work/options"
awk '{ print NF == 1 ? "<>\t" $1 : $1 " <>\t" $2 } NF == 2 { print "<>\t" $1 }' "$work/subcommands" | sort -u >"$work/names"
cut -f 1 "$work/names" | sort -u >"$work/questions"
ask "$work/questions"
claim "bash completes each name of a subcommand" [ -z "$(comm -23 "$work/names" "$work/bash")" ]
claim "so does zsh" [ -z "$(comm -23 "$work/names" "$work/zsh")" ]
cd "$work" && : >one.xml
printf '%s\n' 'jobs create --in on' "--project $work app a" 'jobs create --app <>' 'completion z' >"$work/questions"
ask "$work/questions"
printf '%s\t%s\n' "--project $work app a" add 'completion z' zsh 'jobs create --app <>' '' 'jobs create --in on' one.xml | sort >"$work/answers"
claim "values are completed where they are paths, and arguments where they are one of a few words" diff "$work/answers" "$work/bash"

say "$failures failures"
[ $failures -eq 0 ]
