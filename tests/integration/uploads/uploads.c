/* SPDX-License-Identifier: Apache-2.0 */
/* A file upload handler for tests with a real client, whose URL may be any of this port:
 *
 *     uploads PORT UPLOAD_DIR FANOUT PUBLIC_KEY
 *
 * One connection at a time, one request on each. A client first asks how much of the file is there
 * (nothing, ever) and then sends all of it, with the certificate of its description. Files whose
 * certificate is not by the project's key, or which are larger than it says, are refused for good,
 * as a project's handler does. Each request is a line on standard output. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/submit/hierarchy.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { REQUEST_BYTES_MAX = 64 << 20, REFUSED_FOR_GOOD = -1, ACCEPTED = 0 };

struct handler {
    struct text upload_dir, public_key;
    int64_t fanout;
    struct arena *arena; /* of one request */
};

/* What stands between the tags; empty if nothing does. */
static struct text content(struct text text, struct text open, struct text close)
{
    size_t at = text_find(text, open);

    if (at == text.length)
        return NO_TEXT;
    text = (struct text){text.at + at + open.length, text.length - at - open.length};
    return text_trim(text_first(text, text_find(text, close)));
}

/* Why a file is refused; NULL: it is stored. */
static const char *store(struct handler *handler, struct text body, struct text name)
{
    struct text description = text_first(body, text_find(body, TEXT("<data>\n")));
    struct text most = content(description, TEXT("<max_nbytes>"), TEXT("</max_nbytes>"));
    struct text signature = content(description, TEXT("<xml_signature>"), TEXT("</xml_signature>"));
    struct text wanted = content(description, TEXT("<nbytes>"), TEXT("</nbytes>"));
    struct text data = {description.at + description.length + 7, 0};
    double bytes_max = 0, bytes = 0;
    char md5[MD5_HEX_SIZE];
    struct failure failure = {0};

    if (description.length == body.length || !text_to_real(most, &bytes_max) ||
        !text_to_real(wanted, &bytes) || !file_name_usable(name))
        return "not to be read";
    data.length = body.length - description.length - 7;
    md5_hex(text_print(handler->arena, "<name>" TEXT_FORMAT "</name><max_nbytes>%.0f</max_nbytes>",
                       TEXT_ARG(name), bytes_max),
            NO_TEXT, md5);
    if (rsa_verify_md5(handler->public_key, md5, signature, &failure) != STATUS_OK)
        return failure.text[0] != '\0' ? "its certificate is not ours" : "no certificate";
    if ((double)data.length != bytes || bytes > bytes_max)
        return "too large, or cut off";
    struct text path = hierarchy_path(handler->arena, handler->upload_dir, name, handler->fanout);
    struct text folder = path;
    while (folder.length > 0 && folder.at[folder.length - 1] != '/')
        folder.length--;
    (void)mkdir(text_string(handler->arena, folder), 0755);
    return file_write(text_string(handler->arena, path), data, 0644, &failure) == STATUS_OK
               ? NULL
               : "cannot be written";
}

static struct text answer(struct handler *handler, struct text body)
{
    struct text asked = content(body, TEXT("<get_file_size>"), TEXT("</get_file_size>"));
    struct text name = content(body, TEXT("<name>"), TEXT("</name>"));
    const char *fault;

    if (asked.length > 0) {
        printf("asked " TEXT_FORMAT "\n", TEXT_ARG(asked));
        return TEXT("<data_server_reply>\n    <status>0</status>\n"
                    "    <file_size>0</file_size>\n</data_server_reply>\n");
    }
    fault = store(handler, body, name);
    printf("%s " TEXT_FORMAT "%s%s\n", fault == NULL ? "stored" : "refused", TEXT_ARG(name),
           fault == NULL ? "" : ": ", fault == NULL ? "" : fault);
    return text_print(handler->arena,
                      "<data_server_reply>\n    <status>%d</status>\n"
                      "    <message>%s</message>\n</data_server_reply>\n",
                      fault == NULL ? ACCEPTED : REFUSED_FOR_GOOD, fault == NULL ? "" : fault);
}

/* The body of the request; false if it is none. */
static bool receive(int connection, struct buffer *request, struct text *ret_body)
{
    static const struct text end = {"\r\n\r\n", 4};
    size_t head = 0;
    int64_t length = -1;

    while (length < 0 || request->length < head + (size_t)length) {
        char part[16384];
        ssize_t got = read(connection, part, sizeof(part));
        struct text all;

        if (got <= 0)
            return false;
        buffer_add(request, (struct text){part, (size_t)got});
        all = buffer_text(request);
        if (request->overflowed)
            return false;
        if (length < 0 && text_find(all, end) < all.length) {
            struct text line = text_first(all, text_find(all, end));
            size_t at = text_find(line, TEXT("Content-Length:"));

            head = line.length + end.length;
            if (at == line.length)
                return false;
            line = (struct text){line.at + at + 15, line.length - at - 15};
            if (!text_to_i64(text_split(&line, '\r'), &length) || length < 0)
                return false;
        }
    }
    *ret_body = (struct text){buffer_text(request).at + head, (size_t)length};
    return true;
}

static void serve(struct handler *handler, int connection)
{
    struct buffer request = buffer_on_heap(REQUEST_BYTES_MAX);
    struct text body, reply;

    if (receive(connection, &request, &body)) {
        reply = answer(handler, body);
        reply = text_print(handler->arena,
                           "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                           "Content-Length: %zu\r\n\r\n" TEXT_FORMAT,
                           reply.length, TEXT_ARG(reply));
        if (write(connection, reply.at, reply.length) != (ssize_t)reply.length)
            printf("a client went away\n");
    }
    buffer_free(&request);
}

static int listen_on(int64_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 16) != 0)
        return -1;
    return listener;
}

int main(int argc, char **argv)
{
    struct handler handler = {.arena = arena_create(1 << 20)};
    struct arena *arena = arena_create(1 << 20);
    struct failure failure = {0};
    int64_t port = 0;
    int listener;

    if (argc != 5 || handler.arena == NULL || arena == NULL ||
        !text_to_i64(text_from(argv[1]), &port) || port < 1 || port > 65535 ||
        !text_to_i64(text_from(argv[3]), &handler.fanout)) {
        fprintf(stderr, "uploads PORT UPLOAD_DIR FANOUT PUBLIC_KEY\n");
        return 2;
    }
    handler.upload_dir = text_from(argv[2]);
    if (file_read(arena, argv[4], 65536, &handler.public_key, &failure) != STATUS_OK) {
        fprintf(stderr, "%s\n", failure.text);
        return 1;
    }
    listener = listen_on(port);
    if (listener < 0) {
        perror("uploads");
        return 1;
    }
    for (;;) {
        int connection = accept(listener, NULL, NULL);

        if (connection < 0)
            continue;
        arena_reset(handler.arena);
        serve(&handler, connection);
        (void)close(connection);
        (void)fflush(stdout);
    }
}
