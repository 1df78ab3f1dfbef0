/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads as clients send them, with the project's certificates: for uploads.sh, and for
 * tests/cost/upload-figures.
 *
 *     upload_load KEY head NAME NBYTES OFFSET MAX_NBYTES [MD5]
 *     upload_load KEY many URL COUNT BYTES
 *     upload_load KEY file URL PATH NAME CUTS BYTES_PER_SECOND
 *     upload_load KEY slow URL LINES SECONDS COUNT BYTES
 *     upload_load KEY drip URL LINES NBYTES COUNT BYTES
 *     upload_load KEY disk FOLDER COUNT BYTES
 *
 * KEY is the project's upload_private. `head` prints the head of an upload, for other programs to
 * send. `many` sends so many small files at the same moment. `file` sends one, is cut off so many
 * times, asks each time how much is there, and goes on from that. `slow` opens lines that bring 100
 * bytes a second, and meanwhile sends files one after another. `drip` attacks: its lines announce
 * files of NBYTES with valid certificates, send 100 bytes and then 12 a second, and come back when
 * they are ended; meanwhile files are sent, whose clients come back while they are asked to. `disk`
 * uploads nothing: it writes, syncs and renames so many files one after another, as the least that
 * any handler has to do. URLs are http://127.0.0.1:PORT/PATH. The figures are lines of text; the
 * exit status is 1 if any file was not taken. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/crypto.h"
#include "server/base/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    REPLY_SIZE = 4096,
    PIECE = 65536,
    NO_ANSWER = 99,
    UPLOAD_LATER = 1,
    SLOW_BYTES = 100,
    DRIP_BYTES = 100, /* at once */
    DRIP_RATE = 12,   /* bytes a second behind them */
    DRIP_SECONDS = 2, /* until all lines of an attack are there */
    ASKS_MAX = 100,
    TRIES_MAX = 20
};
/* One connection. */
struct sending {
    int socket;
    char *head_bytes; /* on the heap */
    struct text head; /* those: HTTP, and the head of the upload */
    struct text data; /* what follows */
    size_t sent;      /* of both */
    size_t stop_at;   /* cut off there; 0: never */
    double rate;      /* bytes a second behind the head; 0: as fast as it goes */
    uint64_t begun_ns, ended_ns;
    char reply[REPLY_SIZE];
    size_t reply_length;
    bool is_over;
};

static struct arena *arena;
static struct rsa_signer *signer;
static int port;
static const char *path;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "upload_load: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int64_t number(const char *word)
{
    int64_t value;

    if (!text_to_i64(text_from(word), &value)) {
        fprintf(stderr, "upload_load: %s is no number\n", word);
        exit(2);
    }
    return value;
}

static struct text upload_head(const char *name, int64_t nbytes, int64_t offset, int64_t most,
                               const char *md5)
{
    char digest[MD5_HEX_SIZE];
    struct failure failure = {0};
    struct text signature;

    md5_hex(text_print(arena, "<name>%s</name><max_nbytes>%" PRId64 "</max_nbytes>", name, most),
            NO_TEXT, digest);
    if (rsa_signer_sign(signer, arena, digest, &signature, &failure) != STATUS_OK)
        give_up(failure.text);
    return text_print(arena,
                      "<data_server_request>\n"
                      "    <core_client_major_version>8</core_client_major_version>\n"
                      "    <core_client_minor_version>3</core_client_minor_version>\n"
                      "    <core_client_release>0</core_client_release>\n"
                      "<file_upload>\n<file_info>\n<name>%s</name>\n<xml_signature>\n" TEXT_FORMAT
                      "</xml_signature>\n<max_nbytes>%" PRId64 "</max_nbytes>\n</file_info>\n"
                      "<nbytes>%" PRId64 "</nbytes>\n<md5_cksum>%s</md5_cksum>\n"
                      "<offset>%" PRId64 "</offset>\n<data>\n",
                      name, TEXT_ARG(text_trim(signature)), most, nbytes, md5, offset);
}

static struct text http(struct text body_head, size_t data)
{
    struct text head = text_print(arena,
                                  "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                                  "Content-Length: %zu\r\n\r\n" TEXT_FORMAT,
                                  path, body_head.length + data, TEXT_ARG(body_head));

    if (head.length == 0)
        give_up("no memory");
    return head;
}

static void begin(struct sending *sending, struct text body_head, struct text data)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    *sending = (struct sending){
        .head = http(body_head, data.length), .data = data, .begun_ns = clock_ns()};
    sending->head_bytes = text_keep(sending->head);
    sending->head.at = sending->head_bytes;
    if (sending->head_bytes == NULL)
        give_up("no memory");
    sending->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sending->socket < 0)
        give_up("socket");
    if (connect(sending->socket, (struct sockaddr *)&address, sizeof(address)) != 0 &&
        errno != EINPROGRESS)
        give_up("connect");
}

static void end(struct sending *sending)
{
    if (sending->is_over)
        return;
    sending->is_over = true;
    sending->ended_ns = clock_ns();
    close(sending->socket);
    free(sending->head_bytes);
    sending->head = NO_TEXT;
}

static size_t size_of(const struct sending *sending)
{
    return sending->head.length + sending->data.length;
}

/* How much may have been sent by now. */
static size_t allowed(const struct sending *sending)
{
    double seconds = (double)(clock_ns() - sending->begun_ns) * 1e-9;
    size_t most = sending->stop_at > 0 ? sending->stop_at : size_of(sending);

    double now = (double)sending->head.length + sending->rate * (seconds + 0.02);

    return sending->rate > 0 && now < (double)most ? (size_t)now : most;
}

static void write_some(struct sending *sending)
{
    size_t most = allowed(sending);

    while (!sending->is_over && sending->sent < most) {
        bool in_head = sending->sent < sending->head.length;
        struct text from = in_head ? sending->head : sending->data;
        size_t at = in_head ? sending->sent : sending->sent - sending->head.length;
        size_t part =
            from.length - at < most - sending->sent ? from.length - at : most - sending->sent;
        ssize_t put = send(sending->socket, from.at + at, part < PIECE ? part : PIECE,
                           MSG_NOSIGNAL | MSG_DONTWAIT);

        if (put < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN)
            sending->sent = size_of(sending); /* an answer may be there all the same */
        if (put <= 0)
            return;
        sending->sent += (size_t)put;
    }
    if (sending->stop_at > 0 && sending->sent >= sending->stop_at)
        end(sending);
}

static void read_some(struct sending *sending)
{
    ssize_t got;

    do {
        size_t room = sizeof(sending->reply) - 1 - sending->reply_length;

        got = recv(sending->socket, sending->reply + sending->reply_length, room, MSG_DONTWAIT);
        if (got > 0)
            sending->reply_length += (size_t)got;
    } while (got > 0);
    if (got == 0 || (errno != EAGAIN && errno != EINTR && errno != ENOTCONN))
        end(sending);
}

/* Drives all until they are over, or a moment has passed if there are none. */
static size_t drive(struct sending *all, size_t count, int milliseconds)
{
    struct pollfd *polled = calloc(count + 1, sizeof(*polled));
    size_t under_way = 0;

    if (count == 0 || polled == NULL)
        give_up("no connections, or no memory");
    for (size_t i = 0; i < count; i++) {
        polled[i].fd = all[i].is_over ? -1 : all[i].socket;
        polled[i].events = POLLIN;
        if (!all[i].is_over && all[i].sent < allowed(&all[i]))
            polled[i].events |= POLLOUT;
    }
    (void)poll(polled, count, milliseconds);
    for (size_t i = 0; i < count; i++) {
        if ((polled[i].revents & POLLOUT) != 0)
            write_some(&all[i]);
        if ((polled[i].revents & ~POLLOUT) != 0 && !all[i].is_over)
            read_some(&all[i]);
        under_way += all[i].is_over ? 0 : 1;
    }
    free(polled);
    return under_way;
}

static int64_t value_in(const struct sending *sending, const char *open)
{
    const char *at = strstr(sending->reply, open);

    return at == NULL ? NO_ANSWER : strtoll(at + strlen(open), NULL, 10);
}

static double seconds_of(const struct sending *sending)
{
    return (double)(sending->ended_ns - sending->begun_ns) * 1e-9;
}

static void run_one(struct sending *sending, struct text head, struct text data, size_t cut_after,
                    double rate)
{
    begin(sending, head, data);
    sending->rate = rate;
    if (cut_after > 0)
        sending->stop_at = sending->head.length + cut_after;
    while (drive(sending, 1, rate > 0 ? 5 : 1000) > 0)
        ;
}

/* --- commands --------------------------------------------------------------------------------- */

static int print_head(char **words, int count)
{
    if (count < 4 || count > 5)
        return 2;
    struct text head = upload_head(words[0], number(words[1]), number(words[2]), number(words[3]),
                                   count == 5 ? words[4] : "");
    return file_write_all(STDOUT_FILENO, head) ? 0 : 1;
}

/* The caller frees it. */
static char *pattern(size_t bytes)
{
    char *data = malloc(bytes + 1);

    if (data == NULL)
        give_up("no memory");
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)(i * 131 >> 3);
    return data;
}

static int compare_seconds(const void *a, const void *b)
{
    double one = *(const double *)a, two = *(const double *)b;

    return (one > two) - (one < two);
}

/* Of how long they took; the files that were not taken. */
static size_t report(const char *what, const struct sending *all, size_t count, double seconds)
{
    double *times = calloc(count + 1, sizeof(*times));
    size_t taken = 0;

    if (count == 0 || times == NULL)
        give_up("no files, or no memory");
    for (size_t i = 0; i < count; i++) {
        taken += value_in(&all[i], "<status>") == 0 ? 1 : 0;
        times[i] = seconds_of(&all[i]);
    }
    qsort(times, count, sizeof(*times), compare_seconds);
    printf("%s: %zu of %zu taken, %.2f s, %.0f files/s; each: median %.0f ms, 99%% %.0f ms, "
           "longest %.0f ms\n",
           what, taken, count, seconds, (double)taken / seconds, times[count / 2] * 1e3,
           times[count * 99 / 100] * 1e3, times[count - 1] * 1e3);
    free(times);
    return count - taken;
}

static int many(char **words, int count)
{
    if (count != 2)
        return 2;
    size_t files = (size_t)number(words[0]), failed;
    char *bytes = pattern((size_t)number(words[1]));
    struct text data = {bytes, (size_t)number(words[1])};
    struct sending *all = calloc(files, sizeof(*all));
    char md5[MD5_HEX_SIZE], name[64];
    uint64_t begun_ns = clock_ns();

    if (all == NULL)
        give_up("no memory");
    md5_hex(data, NO_TEXT, md5);
    for (size_t i = 0; i < files; i++) {
        (void)snprintf(name, sizeof(name), "many_%zu_%d_0", i, (int)getpid());
        begin(&all[i], upload_head(name, (int64_t)data.length, 0, (int64_t)data.length, md5), data);
        arena_reset(arena);
    }
    while (drive(all, files, 1000) > 0)
        ;
    failed = report("many", all, files, (double)(clock_ns() - begun_ns) * 1e-9);
    free(all);
    free(bytes);
    return failed == 0 ? 0 : 1;
}

/* How much is there, as soon as the server has heard of the last cut. */
static int64_t ask(const char *name)
{
    struct sending sending;

    for (int i = 0; i < ASKS_MAX; i++) {
        (void)poll(NULL, 0, i == 0 ? 5 : 50);
        run_one(&sending,
                text_print(arena,
                           "<data_server_request>\n    <get_file_size>%s"
                           "</get_file_size>\n</data_server_request>\n",
                           name),
                NO_TEXT, 0, 0);
        arena_reset(arena);
        if (value_in(&sending, "<status>") == 0)
            return value_in(&sending, "<file_size>");
    }
    fprintf(stderr, "upload_load: the server does not say how much is there\n");
    exit(1);
}

/* The connection breaks at even distances, wherever the server has got to by then. */
static int one_file(char **words, int count)
{
    if (count != 4)
        return 2;
    const char *name = words[1];
    int64_t cuts = number(words[2]), at = 0, sent = 0, status = NO_ANSWER;
    int tries = 0;
    int descriptor = open(words[0], O_RDONLY | O_CLOEXEC);
    char md5[MD5_HEX_SIZE];
    struct stat info;
    struct sending sending = {0};
    uint64_t begun_ns;

    if (descriptor < 0 || fstat(descriptor, &info) != 0 ||
        md5_hex_of_descriptor(descriptor, md5) != STATUS_OK)
        give_up(words[0]);
    char *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        give_up(words[0]);
    begun_ns = clock_ns();
    for (int64_t cut = 0; cut <= cuts + tries; cut++) {
        struct text rest = {bytes + at, (size_t)(info.st_size - at)};
        size_t stop = cut < cuts ? rest.length / (size_t)(cuts - cut + 1) + 1 : 0;

        run_one(&sending, upload_head(name, info.st_size, at, info.st_size, md5), rest, stop,
                (double)number(words[3]));
        sent += (int64_t)sending.sent;
        status = value_in(&sending, "<status>");
        arena_reset(arena);
        if (cut >= cuts) {
            if (status != UPLOAD_LATER || tries == TRIES_MAX)
                break;
            tries++; /* bytes from before a cut may come late, through a web server */
        }
        at = ask(name);
    }
    double seconds = (double)(clock_ns() - begun_ns) * 1e-9;
    printf("file: status %" PRId64 ", %.2f s, %.1f MB/s, %" PRId64 " cuts, sent %.3f of its size\n",
           status, seconds, (double)info.st_size / seconds * 1e-6, cuts,
           (double)sent / (double)info.st_size);
    return status == 0 ? 0 : 1;
}

static int slow(char **words, int count)
{
    if (count != 4)
        return 2;
    size_t lines = (size_t)number(words[0]), files = (size_t)number(words[2]), i = 0;
    size_t slow_bytes = (size_t)number(words[1]) * SLOW_BYTES;
    char *slow_pattern = pattern(slow_bytes), *fast_pattern = pattern((size_t)number(words[3]));
    struct text dribble = {slow_pattern, slow_bytes};
    struct text data = {fast_pattern, (size_t)number(words[3])};
    struct sending *all = calloc(lines + files, sizeof(*all));
    char md5[MD5_HEX_SIZE], name[64];
    uint64_t begun_ns = clock_ns(), fast_ns;

    if (all == NULL)
        give_up("no memory");
    md5_hex(dribble, NO_TEXT, md5);
    for (i = 0; i < lines; i++) {
        (void)snprintf(name, sizeof(name), "slow_%zu_%d_0", i, (int)getpid());
        begin(&all[i], upload_head(name, (int64_t)slow_bytes, 0, (int64_t)slow_bytes, md5),
              dribble);
        all[i].rate = SLOW_BYTES;
        arena_reset(arena);
    }
    (void)drive(all, lines, 0);
    md5_hex(data, NO_TEXT, md5);
    fast_ns = clock_ns();
    for (i = 0; i < files; i++) {
        struct sending *fast = &all[lines + i];

        (void)snprintf(name, sizeof(name), "fast_%zu_%d_0", i, (int)getpid());
        begin(fast, upload_head(name, (int64_t)data.length, 0, (int64_t)data.length, md5), data);
        arena_reset(arena);
        for (unsigned turns = 1; drive(fast, 1, 10) > 0; turns++)
            if (turns % 8 == 0)
                (void)drive(all, lines, 0);
        (void)drive(all, lines, 0);
    }
    size_t failed = report("fast", all + lines, files, (double)(clock_ns() - fast_ns) * 1e-9);
    while (drive(all, lines, 0) > 0)
        (void)poll(NULL, 0, 20);
    failed += report("slow", all, lines, (double)(clock_ns() - begun_ns) * 1e-9);
    free(all);
    free(slow_pattern);
    free(fast_pattern);
    return failed == 0 ? 0 : 1;
}

static void begin_drip(struct sending *drip, size_t number, int64_t nbytes, struct text data)
{
    char name[64];
    struct text first = text_first(data, DRIP_BYTES);

    (void)snprintf(name, sizeof(name), "drip_%zu_%d_0", number, (int)getpid());
    first = text_print(arena, TEXT_FORMAT TEXT_FORMAT,
                       TEXT_ARG(upload_head(name, nbytes, 0, nbytes, "")), TEXT_ARG(first));
    begin(drip, first, data);
    free(drip->head_bytes); /* it announces more than there is */
    drip->head = text_print(arena,
                            "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                            "Content-Length: %" PRId64 "\r\n\r\n" TEXT_FORMAT,
                            path, (int64_t)first.length - DRIP_BYTES + nbytes, TEXT_ARG(first));
    drip->head_bytes = text_keep(drip->head);
    drip->head.at = drip->head_bytes;
    if (drip->head_bytes == NULL)
        give_up("no memory");
    drip->rate = DRIP_RATE;
    arena_reset(arena);
}

/* Returns how many lines were ended, and have come back. */
static size_t drive_drips(struct sending *all, size_t count, int64_t nbytes, struct text data)
{
    size_t ended = 0;

    (void)drive(all, count, 0);
    for (size_t i = 0; i < count; i++)
        if (all[i].is_over) {
            begin_drip(&all[i], i, nbytes, data);
            ended++;
        }
    return ended;
}

static int drip(char **words, int count)
{
    if (count != 4)
        return 2;
    size_t lines = (size_t)number(words[0]), files = (size_t)number(words[2]), ended = 0, later = 0;
    int64_t nbytes = number(words[1]);
    char *bytes = pattern((size_t)number(words[3]));
    char dripping[4096] = "", md5[MD5_HEX_SIZE], name[64];
    struct text data = {bytes, (size_t)number(words[3])}, drops = {dripping, sizeof(dripping)};
    struct sending *all = calloc(lines + files, sizeof(*all));
    uint64_t begun_ns = clock_ns();

    if (all == NULL)
        give_up("no memory");
    for (size_t i = 0; i < lines; i++)
        begin_drip(&all[i], i, nbytes, drops);
    while (clock_ns() - begun_ns < DRIP_SECONDS * UINT64_C(1000000000)) {
        ended += drive_drips(all, lines, nbytes, drops);
        (void)poll(NULL, 0, 10);
    }
    md5_hex(data, NO_TEXT, md5);
    begun_ns = clock_ns();
    for (size_t i = 0; i < files; i++) {
        struct sending *fast = &all[lines + i];
        uint64_t file_ns = clock_ns();

        for (int tries = 0; tries < TRIES_MAX; tries++) {
            (void)snprintf(name, sizeof(name), "beside_%zu_%d_0", i, (int)getpid());
            begin(fast, upload_head(name, (int64_t)data.length, 0, (int64_t)data.length, md5),
                  data);
            arena_reset(arena);
            while (drive(fast, 1, 10) > 0)
                ended += drive_drips(all, lines, nbytes, drops);
            if (value_in(fast, "<status>") == 0)
                break;
            later++;
        }
        fast->begun_ns = file_ns;
    }
    size_t failed = report("beside", all + lines, files, (double)(clock_ns() - begun_ns) * 1e-9);
    printf("drip: %zu lines of %" PRId64 " bytes each, ended %zu times; honest ones asked to come "
           "again %zu times\n",
           lines, nbytes, ended, later);
    for (size_t i = 0; i < lines; i++)
        end(&all[i]);
    free(all);
    free(bytes);
    return failed == 0 ? 0 : 1;
}

/* A piece at a time, as from a web server. */
static void write_file(int folder, const char *name, struct text piece, int64_t bytes)
{
    char final_name[80];
    int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    (void)snprintf(final_name, sizeof(final_name), "%s.done", name);
    if (descriptor < 0)
        give_up(name);
    while (bytes > 0) {
        struct text part = bytes < PIECE ? text_first(piece, (size_t)bytes) : piece;

        if (!file_write_all(descriptor, part))
            give_up(name);
        bytes -= (int64_t)part.length;
    }
    if (fsync(descriptor) != 0 || renameat(folder, name, folder, final_name) != 0 ||
        fsync(folder) != 0)
        give_up(name);
    close(descriptor);
}

static double seconds_in(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static int disk(char **words, int count)
{
    if (count != 3)
        return 2;
    int64_t files = number(words[1]), bytes = number(words[2]);
    char *content = pattern(PIECE), name[64];
    int folder = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t begun_ns = clock_ns();
    struct rusage used;

    if (folder < 0)
        give_up(words[0]);
    for (int64_t i = 0; i < files; i++) {
        (void)snprintf(name, sizeof(name), "disk_%" PRId64, i);
        write_file(folder, name, (struct text){content, PIECE}, bytes);
    }
    double seconds = (double)(clock_ns() - begun_ns) * 1e-9;
    (void)getrusage(RUSAGE_SELF, &used);
    printf("disk: %.2f s, %.0f files/s, %.1f MB/s, %.1f s of CPU\n", seconds,
           (double)files / seconds, (double)(files * bytes) / seconds * 1e-6,
           seconds_in(used.ru_utime) + seconds_in(used.ru_stime));
    free(content);
    close(folder);
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "upload_load KEY head NAME NBYTES OFFSET MAX_NBYTES [MD5]\n"
                    "upload_load KEY many URL COUNT BYTES\n"
                    "upload_load KEY file URL PATH NAME CUTS BYTES_PER_SECOND\n"
                    "upload_load KEY slow URL LINES SECONDS COUNT BYTES\n"
                    "upload_load KEY drip URL LINES NBYTES COUNT BYTES\n"
                    "upload_load KEY disk FOLDER COUNT BYTES\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const char before[] = "http://127.0.0.1:";
    struct failure failure = {0};
    struct text key;
    int status = 2;

    arena = arena_create(1 << 20);
    if (arena == NULL || argc < 5 ||
        file_read(arena, argv[1], 65536, &key, &failure) != STATUS_OK ||
        rsa_signer_create(key, &signer, &failure) != STATUS_OK) {
        fprintf(stderr, "%s\n", failure.text);
        return usage();
    }
    if (strcmp(argv[2], "head") == 0)
        return print_head(argv + 3, argc - 3);
    if (strcmp(argv[2], "disk") == 0)
        return disk(argv + 3, argc - 3) == 0 ? 0 : usage();
    if (strncmp(argv[3], before, sizeof(before) - 1) != 0)
        return usage();
    port = (int)strtol(argv[3] + sizeof(before) - 1, &argv[3], 10);
    path = argv[3];
    if (strcmp(argv[2], "many") == 0)
        status = many(argv + 4, argc - 4);
    else if (strcmp(argv[2], "file") == 0)
        status = one_file(argv + 4, argc - 4);
    else if (strcmp(argv[2], "slow") == 0)
        status = slow(argv + 4, argc - 4);
    else if (strcmp(argv[2], "drip") == 0)
        status = drip(argv + 4, argc - 4);
    return status == 2 ? usage() : status;
}
