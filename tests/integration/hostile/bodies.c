/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that are hostile as a whole. */
#include "tests/integration/hostile/hostile.h"

#include "server/base/random.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/banned.h"

/* In a request that is right otherwise: `before`, the piece so many times, `after`. */
static const struct {
    const char *what, *before, *piece, *after;
    size_t times;
    enum wanted wanted;
} repeated[] = {
    {"nested unknown tags", "", "<a>", "", 10000, WANTED_FULL},
    {"nested known tags", "", "<result><host_info>", "", 10000, WANTED_FULL},
    {"nested and closed", "<a><b>", "<c></c>", "</b></a>", 100000, WANTED_FULL},
    {"100 KB of CDATA", "<client_opaque><![CDATA[", "0123 <a> & ", "]]></client_opaque>", 10000,
     WANTED_FULL},
    {"CDATA without an end", "<client_opaque><![CDATA[", "0123 <a> & ", "", 10000, WANTED_ANY},
    {"results without names", "", "<result></result>", "", 100000, WANTED_ANY},
    {"unknown results", "", "<result><name>x</name></result>", "", 20000, WANTED_FULL},
    {"lists of jobs", "<other_results>", "<other_result><name>x</name></other_result>",
     "</other_results>", 100000, WANTED_ANY},
    {"coprocessors", "<coprocs>", "<coproc_cuda><count>64</count></coproc_cuda>", "</coprocs>",
     5000, WANTED_FULL},
    {"platforms", "", "<alt_platform><name>i686-pc-linux-gnu</name></alt_platform>", "", 20000,
     WANTED_FULL},
    {"files", "", "<file_info><name>f</name><nbytes>1</nbytes></file_info>", "", 20000,
     WANTED_FULL},
    {"versions", "<app_versions>", "<app_version><app_name>work</app_name></app_version>",
     "</app_versions>", 20000, WANTED_FULL},
    {"keywords", "<user_keywords>", "<yes>1</yes>", "</user_keywords>", 50000, WANTED_FULL},
    {"trickles", "", "<msg_from_host>x</msg_from_host>", "", 2000, WANTED_ANY},
    {"a text of 8 MB", "<host_info><domain_name>", "0123456789abcdef", "</domain_name></host_info>",
     1 << 19, WANTED_FULL},
    {"a result of 8 MB", "<result><name>job_1_0</name><stderr_out>", "0123456789abcdef",
     "</stderr_out></result>", 1 << 19, WANTED_FULL},
    {"less-than signs", "", "<", "", 1 << 20, WANTED_ANY},
    {"ampersands", "", "&", "", 1 << 20, WANTED_ANY},
    {"comments without an end", "", "<!--", "", 1 << 18, WANTED_ANY},
    {"NULs", "", "\0", "", 0, WANTED_ANY},
};

static void send_repeated(struct hostile *hostile)
{
    for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
        struct buffer body = hostile_begin("none");

        buffer_add_string(&body, repeated[i].before);
        for (size_t n = 0; n < repeated[i].times; n++)
            buffer_add_string(&body, repeated[i].piece);
        for (size_t n = 0; repeated[i].times == 0 && n < 1 << 16; n++)
            buffer_add_char(&body, '\0');
        buffer_add_string(&body, repeated[i].after);
        buffer_add_string(&body, "\n</scheduler_request>\n");
        hostile_send(hostile, buffer_text(&body), repeated[i].wanted, "%s", repeated[i].what);
        buffer_free(&body);
    }
}

static const char *const plain[] = {
    "",
    "<",
    "\n",
    "GET / HTTP/1.0\r\n\r\n",
    "<scheduler_request>",
    "</scheduler_request>",
    "<scheduler_request/>",
    "<scheduler_request></scheduler_request>",
    "<?xml version=\"1.0\" encoding=\"UTF-16\"?><scheduler_request></scheduler_request>",
    "<scheduler_reply></scheduler_reply>",
    "\xef\xbb\xbf<scheduler_request></scheduler_request>",
    "\xff\xfe<\0s\0c\0h\0e\0d\0",
    "{\"hostid\": 1}",
};

/* No client has an answer to give to these, and no account. */
static void send_plain(struct hostile *hostile)
{
    struct buffer body = buffer_on_heap(0);
    struct random random = {7};

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        hostile_send(hostile, text_from(plain[i]), WANTED_REFUSAL, "\"%s\"", plain[i]);
    while (body.length < 1 << 20)
        buffer_add_char(&body, (char)random_next(&random));
    hostile_send(hostile, buffer_text(&body), WANTED_REFUSAL, "a megabyte of noise");
    while (body.length < 40 << 20)
        buffer_add_string(&body, "<result><name>too_much_0</name><state>5</state></result>\n");
    hostile_send(hostile, buffer_text(&body), WANTED_REFUSAL, "40 MB");
    buffer_free(&body);
}

/* A document type before the request, and what it defines used in it. */
static void send_entity(struct hostile *hostile, const char *what, const char *definitions)
{
    struct buffer body = buffer_on_heap(0), request = hostile_begin("none");

    buffer_print(&body, "<?xml version=\"1.0\"?>\n<!DOCTYPE scheduler_request [\n%s]>\n",
                 definitions);
    buffer_add(&body, buffer_text(&request));
    buffer_add_string(&body, "<host_info><domain_name>&x;</domain_name><p_model>&x;</p_model>"
                             "<os_name>&x;</os_name></host_info>\n"
                             "<result><name>job_503_0</name><state>5</state>"
                             "<stderr_out>&x;</stderr_out></result>\n"
                             "<msg_from_host><variety>v</variety>&x;</msg_from_host>\n"
                             "</scheduler_request>\n");
    hostile_send(hostile, buffer_text(&body), WANTED_ANY, "%s", what);
    /* The same, in the middle of the request. */
    buffer_print(&request,
                 "<!DOCTYPE a [\n%s]>\n<host_info><domain_name>&x;</domain_name>"
                 "</host_info>\n</scheduler_request>\n",
                 definitions);
    hostile_send(hostile, buffer_text(&request), WANTED_ANY, "%s, inside", what);
    buffer_free(&request);
    buffer_free(&body);
}

static void send_laughs(struct hostile *hostile)
{
    struct buffer laughs = buffer_on_heap(0);

    buffer_add_string(&laughs, "<!ENTITY a0 \"ha\">\n");
    for (int i = 1; i < 31; i++) {
        buffer_print(&laughs, "<!ENTITY a%d \"", i);
        for (int n = 0; n < 10; n++)
            buffer_print(&laughs, "&a%d;", i - 1);
        buffer_add_string(&laughs, "\">\n");
    }
    buffer_add_string(&laughs, "<!ENTITY x \"&a30;\">\n");
    buffer_add_char(&laughs, '\0');
    send_entity(hostile, "billion laughs", laughs.at);
    buffer_free(&laughs);
}

/* A listener that nobody must call; -1: none. */
static int listen_quietly(int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 5) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -1;
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static void send_externals(struct hostile *hostile, const char *secret)
{
    int port = 0, fd = listen_quietly(&port);
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    char definition[600];

    hostile_claim(hostile, fd >= 0, "a listener");
    (void)snprintf(definition, sizeof definition, "<!ENTITY x SYSTEM \"file://%s\">\n", secret);
    send_entity(hostile, "a file as entity", definition);
    (void)snprintf(definition, sizeof definition,
                   "<!ENTITY %% f SYSTEM \"file://%s\">\n%%f;\n<!ENTITY x \"%%f;\">\n", secret);
    send_entity(hostile, "a file as parameter entity", definition);
    (void)snprintf(definition, sizeof definition,
                   "<!ENTITY x SYSTEM \"http://127.0.0.1:%d/entity\">\n", port);
    send_entity(hostile, "a page as entity", definition);
    (void)snprintf(definition, sizeof definition,
                   "<!ENTITY %% p SYSTEM \"http://127.0.0.1:%d/dtd\">\n%%p;\n", port);
    send_entity(hostile, "a page as parameter entity", definition);
    hostile_claim(hostile, poll(&asked, 1, 200) == 0, "no connection to the network");
    close(fd);
}

void hostile_bodies(struct hostile *hostile, const char *secret)
{
    send_plain(hostile);
    send_repeated(hostile);
    send_laughs(hostile);
    send_externals(hostile, secret);
}
