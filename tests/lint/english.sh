#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manuals, pages, help texts, messages and the stories at the top of headers do without the phrases of english_phrases,
# which read as if translated. A paragraph, a cell of a table, and the pieces of a string are each looked at as one text; code, headings and SQL are not.
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.md' 'server/*.[ch]' 'server/*.def' 'config/*.[ch]' 'config/*.def' \
    'db/*.[ch]' 'db/*.def' 'tools/*.[ch]' | grep -vE '^(ARCHITECTURE|DECISIONS)\.md$|^tests/.*/.*\.md$|^tests/requirements\.md$|^db/(admin|columns|statements)\.def$')

# find_phrases FILE...: FILE:LINE: "what was found": what to write.
find_phrases() {
    perl -e '
        use strict;
        use warnings;
        open(my $list, "<", "tests/lint/english_phrases") or die "english_phrases: $!";
        my @rules;
        while (<$list>) {
            chomp;
            next if /^#/ || /^$/;
            my ($phrase, $instead, $where) = split /\t/;
            push @rules, [qr/$phrase/, $instead, $where // ""];
        }
        my $found = 0;
        sub look {
            my ($file, $line, $text, $is_header) = @_;
            for my $rule (@rules) {
                next if $is_header && $rule->[2] eq "texts";
                while ($text =~ /($rule->[0].{0,30})/g) {
                    print "$file:$line: \"$1\": $rule->[1]\n";
                    $found++;
                }
            }
        }
        for my $file (@ARGV) {
            open(my $in, "<", $file) or die "$file: $!";
            local $/;
            my $all = <$in>;
            if ($file =~ /\.h$/ && $all =~ m{\A/\* SPDX[^\n]*\n/\*(.*?)\*/}s) {
                look($file, 2, ($1 =~ s/\s+(\*\s+)?/ /gr =~ s/^ //r), 1);
            }
            if ($file !~ /\.md$/) {
                while ($all =~ /("(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*)/g) {
                    my ($line, $string) = (1 + (substr($all, 0, $-[0]) =~ tr/\n//), $1);
                    $string =~ s/"\s*"//g;
                    $string =~ s/^"|"$//g;
                    $string =~ s/\\n/ /g;
                    look($file, $line, $string)
                        if $string =~ /[a-z]{2,} [a-z]{2,}/ && $string !~ /\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|SHOW|SET)\b/;
                }
                next;
            }
            my ($code, $text, $begin, $number) = (0, "", 0, 0);
            for my $whole (split(/\n/, $all), "") {
                my $l = $whole;
                $number++;
                if ($l =~ /^```/) { $code = !$code; }
                if ($l =~ /^```/ || $code || $l =~ /^$/ || $l =~ /^(#|\||!\[)/ || ($l =~ /^    / && $text eq "") || $l =~ /^ *([-*]|[0-9]+\.) /) {
                    look($file, $begin, $text) if $text ne "";
                    $text = "";
                }
                next if $code || $l =~ /^(```|#|!\[)/ || ($l =~ /^    / && $text eq "");
                if ($l =~ /^\|/) {
                    look($file, $number, $_) for map { s/^\s+|\s+$//gr } split(/\|/, $l);
                    next;
                }
                $begin = $number if $text eq "";
                $l =~ s/^ *([-*]|[0-9]+\.)? *//;
                $text .= ($text eq "" ? "" : " ") . $l;
            }
        }
        exit($found > 0);' "$@"
}

# It finds what it is for, and passes what is usual.
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
# shellcheck disable=SC2016 # backquotes are Markdown's
printf '%s\n' 'A job shall' 'run. What is needed? One.' '' '- So it is.' '| a | Of two: one |' '```' 'anew' '```' '# What is wrong' >"$sample/a.md"
printf '%s\n' 'fail("a file ' '     stood" " in config.xml");' 'say("the table lies "' '    "beside it");' '/* anew */' >"$sample/a.c"
[ "$(find_phrases "$sample/a.md" "$sample/a.c" | wc -l)" = 4 ] || {
    echo "english.sh finds other than it should:" && find_phrases "$sample/a.md" "$sample/a.c"
    exit 1
}
find_phrases "${files[@]}" >"$sample/found" || {
    cat "$sample/found" >&2
    exit 1
}
echo "english: ${#files[@]} files, $(grep -vc '^#' tests/lint/english_phrases) phrases"
