# SPDX-License-Identifier: Apache-2.0
# The page of tools/bench from its figures. Variables: machine, version, picture ("": none), and points, a file
# to which lines for the picture are written: panel, line, x, median, least, greatest.
BEGIN { FS = "," }
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{
    # One measurement is known by what was set; its rounds are numbered.
    key = $column["part"] " " $column["kind"] " " $column["shape"]
    if ($column["part"] == "connections") key = key " " $column["connections"]
    if ($column["part"] == "processes") key = key " " $column["processes"] "x" $column["threads"]
    if ($column["part"] == "backlog") key = key " " $column["rows"]
    n = ++rounds[key]
    if (n == 1) {
        keys[++key_count] = key
        set_of[key] = $column["connections"] "," $column["threads"] "," $column["rows"]
    }
    for (name in column) value[key, name, n] = $column[name]
    if ($column["sync_ms"] != "")
        value["all", "sync_ms", ++rounds["all"]] = $column["sync_ms"]
    if (n > most_rounds) most_rounds = n
}

# sort_values KEY NAME: the rounds' values in order in sorted[]; returns how many. With `under` they are those
# of KEY divided by those of `under` in the same round.
function sort_values(key, name, under,    i, j, count, one, below) {
    count = 0
    for (i = 1; i <= rounds[key]; i++) {
        if (value[key, name, i] == "")
            continue
        one = value[key, name, i] + 0
        if (under != "") {
            below = value[under, name, i] + 0
            if (below == 0)
                continue
            one /= below
        }
        for (j = count; j >= 1 && sorted[j] > one; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = one
        count++
    }
    return count
}
function median(key, name, under,    count) {
    count = sort_values(key, name, under)
    if (count == 0)
        return ""
    return count % 2 ? sorted[(count + 1) / 2] : (sorted[count / 2] + sorted[count / 2 + 1]) / 2
}
# grouped NUMBER: with commas between thousands.
function grouped(number,    text, out) {
    text = sprintf("%.0f", number)
    out = ""
    while (length(text) > 3) {
        out = "," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}
function shown(number, format) {
    return format == "count" ? grouped(number) : sprintf(format, number)
}
# of KEY NAME FORMAT: the median, with least and greatest in brackets where there are several rounds.
function of(key, name, format, under,    count, middle, text) {
    middle = median(key, name, under)
    if (middle == "")
        return "–"
    count = sort_values(key, name, under)
    text = shown(middle, format)
    if (count > 1)
        text = text " (" shown(sorted[1], format) "–" shown(sorted[count], format) ")"
    return text
}
function plain(key, name, format,    middle) {
    middle = median(key, name, "")
    return middle == "" ? "–" : shown(middle, format)
}
function has_part(part,    i) {
    for (i = 1; i <= key_count; i++)
        if (index(keys[i], part " ") == 1)
            return 1
    return 0
}
function point(panel, line, x, key, name,    count, middle) {
    middle = median(key, name, "")
    if (middle == "")
        return
    count = sort_values(key, name, "")
    print panel, line, x, middle, sorted[1], sorted[count] > points
}
function named(kind) {
    return kind == "other" ? "the other scheduler" : kind == "stub" ? "the stub" : kind
}
# verdict PASSES: of a target.
function verdict(passes) { return passes ? "met" : "missed" }

function write_shapes(part, heading,    i, k, shape, own) {
    print "\n## " heading "\n"
    print "Closed loop: each connection asks again as soon as it has its answer. Ratios are ours to the stub's of that row.\n"
    print "| shape | scheduler | requests/s | jobs/s | ratio | p50, p99, p99.9, longest (ms) |"
    print "|---|---|---|---|---|---|"
    for (i = 1; i <= 4; i++) {
        shape = shapes[i]
        for (k = 1; k <= kind_count; k++) {
            own = part " " kinds[k] " " shape
            if (!rounds[own])
                continue
            print "| " title[shape] " | " named(kinds[k]) " | " of(own, "requests_per_s", "count") " | " \
                (shape == "i" ? "–" : of(own, "jobs_per_s", "count")) " | " \
                (k == 1 ? "" : of(part " quartermaster " shape, "requests_per_s", "%.2f", own)) " | " \
                plain(own, "p50_ms", "%.1f") ", " plain(own, "p99_ms", "%.1f") ", " plain(own, "p999_ms", "%.1f") ", " \
                plain(own, "longest_ms", "%.1f") " |"
            if (part == "shapes")
                point("shapes", kinds[k], i, own, "requests_per_s")
        }
    }
    print "\nOf one request (medians): CPU time in ms, what the database counted, and the length of the reply.\n"
    print "| shape | scheduler | CPU: scheduler | database | web server | load | statements | redo, bytes | fsyncs | reply, bytes | reports | empty |"
    print "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= 4; i++)
        for (k = 1; k <= kind_count; k++)
            write_used(part " " kinds[k] " " shapes[i], shapes[i] " | " named(kinds[k]))
}
function write_apart(    i, own, together) {
    print "\n## Commits shared by requests\n"
    print "The same load with `requests_per_commit` 1, where each request has its own COMMIT, and with 8, as above.\n"
    print "| shape | requests/s: own COMMIT | shared | gain | CPU ms: scheduler, database | p50, p99 (ms): own | shared | fsyncs: own, shared |"
    print "|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= 4; i++) {
        own = "apart quartermaster " shapes[i]
        together = "shapes quartermaster " shapes[i]
        if (rounds[own] && rounds[together])
            print "| " shapes[i] " | " of(own, "requests_per_s", "count") " | " of(together, "requests_per_s", "count") " | " \
                of(together, "requests_per_s", "%.2f", own) " | " plain(own, "server_ms", "%.2f") ", " plain(own, "db_ms", "%.2f") \
                " → " plain(together, "server_ms", "%.2f") ", " plain(together, "db_ms", "%.2f") " | " \
                plain(own, "p50_ms", "%.1f") ", " plain(own, "p99_ms", "%.1f") " | " plain(together, "p50_ms", "%.1f") ", " \
                plain(together, "p99_ms", "%.1f") " | " plain(own, "fsyncs", "%.2f") ", " plain(together, "fsyncs", "%.2f") " |"
    }
}
function write_used(key, words) {
    if (!rounds[key])
        return
    print "| " words " | " plain(key, "server_ms", "%.3f") " | " plain(key, "db_ms", "%.3f") " | " \
        plain(key, "web_ms", "%.3f") " | " plain(key, "load_ms", "%.3f") " | " plain(key, "statements", "%.1f") " | " \
        plain(key, "redo_bytes", "count") " | " plain(key, "fsyncs", "%.2f") " | " plain(key, "reply_bytes", "count") " | " \
        plain(key, "reports", "%.1f") " | " plain(key, "empty_part", "%.2f") " |"
}
# A row of an organ: what is counted, who does it, its queue.
function write_organ(organ, who, rate, queue,    key) {
    key = "life quartermaster life"
    print "| " who " | " plain(key, rate, "count") " | " plain(key, "of_" organ "_ms", "%.3f") " | " \
        plain(key, "of_" organ "_db_ms", "%.3f") " | " plain(key, "of_" organ "_statements", "%.2f") " | " \
        (queue == "" ? "" : plain(key, queue "_before", "count") " → " plain(key, queue "_after", "count")) " |"
}
function write_life(    key) {
    key = "life quartermaster life"
    print "\n## The whole life in steady state\n"
    print "At " plain(key, "rate", "count") " requests a second hosts get jobs, upload a file of 10 kB for each and report them, two and a"
    print "half a request. Beside them `qmctl jobs create --stdin` makes jobs, each with an input file and a signed output file;"
    print "`qmctl transition --validate bitwise --assimilate none --delete-files`, in rounds of which one begins a second after"
    print "the other, passes them on; `qmctl purge --min-age-days 0` archives them. The database tells programs apart by"
    print "accounts. CPU in ms, of one job.\n"
    print "| program | jobs a second | CPU | of the database | statements | on its way, before → after |"
    print "|---|---|---|---|---|---|"
    write_organ("made", "`jobs create`", "made_per_s", "unsent")
    write_organ("handed", "`quartermaster`", "handed_per_s", "in_progress")
    write_organ("uploaded", "`quartermaster --upload`", "uploaded_per_s", "")
    write_organ("web", "web server", "", "")
    write_organ("passed", "`transition`", "passed_per_s", "due")
    write_organ("passed_to", "&emsp;to validate", "", "to_validate")
    write_organ("passed_to", "&emsp;to assimilate", "", "to_assimilate")
    write_organ("passed_to", "&emsp;files to delete", "", "to_delete")
    write_organ("purged", "`purge`", "purged_per_s", "to_purge")
    write_organ("rest", "database, its own threads", "", "")
    print "| **all** | | **" of(key, "job_ms", "%.2f") "** | | " plain(key, "statements", "%.1f") " | |"
    print "| load generator | | " plain(key, "of_load_ms", "%.3f") " | | | |"
    print "\nA job costs " plain(key, "redo_bytes", "count") " bytes of redo and " plain(key, "fsyncs", "%.3f") " fsyncs of the database. Each of " \
        plain(key, "verified", "count") " jobs that hosts got is in the archive once, with this host, as valid; credit was granted once;"
    print "no file is left. p99 of a request " plain(key, "p99_ms", "%.1f") " ms, the longest " plain(key, "longest_ms", "%.1f") " ms."
}
function write_drain(    key) {
    key = "drain quartermaster life"
    print "\n## What is left to do, and nothing else\n"
    print plain(key, "drained_jobs", "count") " finished jobs were passed on, compared and assimilated, and their files deleted, in " \
        of(key, "drained_s", "%.1f") " s,"
    print plain(key, "passed_per_s", "count") " a second; a job took " plain(key, "of_passed_ms", "%.3f") " ms of CPU, and of the database's " \
        plain(key, "of_passed_db_ms", "%.3f") "."
}
function write_latency(    i, k, own) {
    print "\n## Latency at half of the greatest load\n"
    print "Open loop: each request has its time beforehand, and its latency counts from then. The stub has the same rate.\n"
    print "| shape | scheduler | requests/s wanted, answered | p50, ms | p99, ms | p99.9, ms | longest, ms |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= 4; i++)
        for (k = 1; k <= kind_count; k++) {
            own = "latency " kinds[k] " " shapes[i]
            if (!rounds[own])
                continue
            print "| " shapes[i] " | " named(kinds[k]) " | " plain(own, "rate", "count") ", " \
                plain(own, "requests_per_s", "count") " | " of(own, "p50_ms", "%.1f") " | " of(own, "p99_ms", "%.1f") " | " \
                of(own, "p999_ms", "%.1f") " | " of(own, "longest_ms", "%.1f") " |"
        }
}
function write_connections(    i, k, own, counts, n) {
    print "\n## By connections\n"
    print "Shape ii, closed loop.\n"
    print "| connections | scheduler | requests/s | ratio | p50, ms | p99, ms | p99.9, ms | longest, ms |"
    print "|---|---|---|---|---|---|---|---|"
    n = split("1 4 16 64", counts, " ")
    for (i = 1; i <= n; i++)
        for (k = 1; k <= 2; k++) {
            own = "connections " kinds[k] " ii " counts[i]
            if (!rounds[own])
                continue
            print "| " counts[i] " | " named(kinds[k]) " | " of(own, "requests_per_s", "count") " | " \
                (k == 1 ? of(own, "requests_per_s", "%.2f", "connections stub ii " counts[i]) : "") " | " \
                plain(own, "p50_ms", "%.1f") " | " of(own, "p99_ms", "%.1f") " | " plain(own, "p999_ms", "%.1f") " | " \
                of(own, "longest_ms", "%.1f") " |"
            point("connections", kinds[k], counts[i], own, "requests_per_s")
        }
}
# The measurements of a part, in the order in which they came first, each with what it was set to.
function write_series(part, header,    i, words, one) {
    print "| shape | " header " | requests/s | jobs/s | p50, ms | p99, ms | p99.9, ms | longest, ms | CPU ms: scheduler, database | memory, MB |"
    print "|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= key_count; i++) {
        if (index(keys[i], part " ") != 1)
            continue
        one = keys[i]
        split(one, words, " ")
        print "| " words[3] " | " (words[4] ~ /x/ ? words[4] : grouped(words[4])) " | " of(one, "requests_per_s", "count") " | " \
            of(one, "jobs_per_s", "count") " | " plain(one, "p50_ms", "%.1f") " | " of(one, "p99_ms", "%.1f") " | " \
            plain(one, "p999_ms", "%.1f") " | " of(one, "longest_ms", "%.1f") " | " plain(one, "server_ms", "%.2f") ", " \
            plain(one, "db_ms", "%.2f") " | " plain(one, "memory_mb", "count") " |"
        point(part, words[3], words[4], one, "requests_per_s")
    }
}
function write_start(    key) {
    key = "start quartermaster i"
    print "\n## Start with many unsent jobs\n"
    print "With " plain(key, "rows", "count") " unsent jobs a server knows all of them after " of(key, "fill_alone_s", "%.1f") \
        " s, and after " of(key, "fill_s", "%.1f") " s where idle requests come meanwhile over 8 connections, as fast as they are answered."
    print "Its memory is " plain(key, "memory_mb", "count") " MB then.\n"
    print "| idle requests | in a second | p50, ms | p99, ms |"
    print "|---|---|---|---|"
    print "| while it fills | " of(key, "meanwhile_per_s", "count") " | " plain(key, "meanwhile_p50_ms", "%.1f") " | " \
        plain(key, "meanwhile_p99_ms", "%.1f") " |"
    print "| afterwards | " of(key, "afterwards_per_s", "count") " | " plain(key, "afterwards_p50_ms", "%.1f") " | " \
        plain(key, "afterwards_p99_ms", "%.1f") " |"
}
function write_others(    key) {
    print "\n## A crowd's mixture, and plain CGI\n"
    print "The mixture is what an emulated crowd asks for and reports; plain CGI starts the program anew for each request of shape ii.\n"
    print "| | requests/s | jobs/s | p50, ms | p99, ms | longest, ms | CPU ms: scheduler, database |"
    print "|---|---|---|---|---|---|---|"
    write_other("mixture", "mix quartermaster mix")
    write_other("mixture, the other scheduler", "mix other mix")
    write_other("plain CGI, 8 connections", "cgi cgi ii")
}
function write_other(words, key) {
    if (rounds[key])
        print "| " words " | " of(key, "requests_per_s", "count") " | " of(key, "jobs_per_s", "count") " | " \
            plain(key, "p50_ms", "%.1f") " | " plain(key, "p99_ms", "%.1f") " | " plain(key, "longest_ms", "%.1f") " | " \
            (key ~ /^cgi/ ? "–" : plain(key, "server_ms", "%.2f")) ", " plain(key, "db_ms", "%.2f") " |"
}

function target(what, aim, measured, passes) {
    print "| " what " | " aim " | " measured " | " verdict(passes) " |"
}
# Of a stub's requests.
function target_ratio(part, shape, kind, aim,    ratio) {
    ratio = median(part " quartermaster " shape, "requests_per_s", part " " kind " " shape)
    if (ratio != "")
        target("shape " shape (part == "few" ? ", 8 connections" : "") ", of the requests of " named(kind), \
            sprintf("%.2f", aim), sprintf("%.2f", ratio), ratio >= aim)
}
function write_targets(    i, shape, own, stub, ratio, aim, more, worst, one, few, many, key) {
    print "\n## Targets\n"
    print "| what | target | measured | |"
    print "|---|---|---|---|"
    split("0.04 0.08 0.15 0.15", more, " ")
    for (i = 1; i <= 4; i++) {
        target_ratio("shapes", shapes[i], "stub", 1.0)
        target_ratio("few", shapes[i], "stub", 0.8)
        own = "shapes quartermaster " shapes[i]
        stub = "shapes stub " shapes[i]
        if (!rounds[own] || !rounds[stub])
            continue
        one = median(own, "server_ms", "") - median(stub, "server_ms", "")
        target("shape " shapes[i] ", CPU of the scheduler above the stub's", more[i] " ms", sprintf("%.2f ms", one), one <= more[i] + 0.0005)
    }
    own = "shapes quartermaster iii"
    if (rounds[own]) {
        one = median(own, "jobs_per_s", "")
        target("shape iii, jobs in a second", "above 11,574", grouped(one), one > 11574)
    }
    worst = ""
    for (i = 1; i <= 4; i++) {
        own = "latency quartermaster " shapes[i]
        if (rounds[own] && (worst == "" || median(own, "p99_ms", "") > worst))
            worst = median(own, "p99_ms", "")
    }
    if (worst != "")
        target("p99 at half of the greatest load, the worst shape", "≤ 10 ms", sprintf("%.1f ms", worst), worst <= 10)
    for (i = 2; i <= 3; i++) {
        one = "processes quartermaster " shapes[i] " 1x8"
        many = "processes quartermaster " shapes[i] " 3x3"
        if (!rounds[one] || !rounds[many])
            continue
        ratio = median(many, "requests_per_s", one)
        target("shape " shapes[i] ", three servers of 3 threads against one of 8", "≥ 1.00", sprintf("%.2f", ratio), ratio >= 1)
        ratio = median(many, "p999_ms", "") / median(many, "p50_ms", "")
        target("shape " shapes[i] ", three servers: p99.9 in medians; longest", "≤ 10; ≤ 1 s", \
            sprintf("%.1f; %.2f s", ratio, median(many, "longest_ms", "") / 1000), ratio <= 10 && median(many, "longest_ms", "") <= 1000)
    }
    for (i = 2; i <= 3; i++) {
        few = many = ""
        for (k = 1; k <= key_count; k++)
            if (index(keys[k], "backlog quartermaster " shapes[i] " ") == 1) {
                if (few == "")
                    few = keys[k]
                many = keys[k]
            }
        if (few == many)
            continue
        ratio = median(many, "requests_per_s", few)
        one = median(many, "p99_ms", few)
        target("shape " shapes[i] ", most unsent jobs against fewest: requests, p99", "≥ 0.90, ≤ 1.10", \
            sprintf("%.2f, %.2f", ratio, one), ratio >= 0.9 && one <= 1.1)
    }
    key = "start quartermaster i"
    if (rounds[key]) {
        one = median(key, "fill_alone_s", "")
        target("pool full with " plain(key, "rows", "count") " unsent jobs", "< 10 s", sprintf("%.1f s", one), one < 10)
        one = median(key, "fill_s", "")
        target("the same under as many idle requests as are answered", "< 10 s", sprintf("%.1f s", one), one < 10)
        ratio = median(key, "afterwards_per_s", "") == "" ? 0 : median(key, "meanwhile_per_s", "") / median(key, "afterwards_per_s", "")
        if (ratio > 0)
            target("idle requests while it fills, of those afterwards", "1", sprintf("%.2f", ratio), ratio >= 0.95)
        one = median(key, "memory_mb", "")
        worst = 64 + 64 * median(key, "rows", "") / 1048576
        target("memory with so many", sprintf("≤ %.0f MB", worst), grouped(one) " MB", one <= worst)
    }
    key = "cgi cgi ii"
    if (rounds[key]) {
        one = median(key, "requests_per_s", "")
        target("plain CGI, work requests in a second", "400", grouped(one), one >= 400)
    }
}
END {
    if (key_count == 0) {
        print "bench: no figures" > "/dev/stderr"
        exit 1
    }
    split("i ii iii iv", shapes, " ")
    kind_count = split("quartermaster stub other", kinds, " ")
    title["i"] = "i: nothing reported, nothing asked"
    title["ii"] = "ii: gets 1 job"
    title["iii"] = "iii: gets 10"
    title["iv"] = "iv: reports 5, gets 5"
    printf "" > points
    print "# The machine's limit\n"
    print "Written by `tools/bench --report`; its `--help` says what is measured. Everything runs on one machine: loaders, web"
    print "server (nginx), scheduler and database (4 GB of buffer pool, 2 GB of log, `innodb_flush_log_at_trx_commit=1`, no binary log)."
    print "The stub does in the database what a server of this kind must do, in a transaction for each request, and decides nothing. Figures are medians of up to"
    print most_rounds " rounds, with least and greatest in brackets.\n"
    print machine "; " version ". A write of 512 bytes that the disk confirms took, before each measurement, " \
        of("all", "sync_ms", "%.2f") " ms."
    if (picture != "")
        print "\n![throughput by shape, connections, processes and backlog](" picture ")"
    write_targets()
    if (has_part("shapes")) write_shapes("shapes", "The greatest load")
    if (has_part("few")) write_shapes("few", "With 8 connections")
    if (has_part("apart")) write_apart()
    if (has_part("life")) write_life()
    if (has_part("drain")) write_drain()
    if (has_part("latency")) write_latency()
    if (has_part("connections")) write_connections()
    if (has_part("processes")) {
        print "\n## Several servers on one database\n"
        write_series("processes", "servers x threads")
    }
    if (has_part("backlog")) {
        print "\n## By backlog\n"
        print "As many jobs are made as are handed out, by bare INSERTs beside the load.\n"
        write_series("backlog", "unsent jobs")
    }
    if (has_part("start")) write_start()
    if (has_part("mix") || has_part("cgi")) write_others()
}
