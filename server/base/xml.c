/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as a row of events, read by libxml2.
 *
 * libxml2 does a great deal more than this project wants, and each thing that it does beyond
 * reading tags and text has been somebody's way in. So its SAX table holds only our own
 * functions: nothing of its tree, its entities or its DTDs is ever built, a document type
 * declaration ends the walk before its first line is read, and of entities there remain the five
 * predefined ones and character references. libxml2 keeps its own bounds as well (256 levels, 10 MB
 * for one name or comment), since XML_PARSE_HUGE is not set.
 *
 * Nothing here is shared between threads: each walk has a parser of its own, and errors go to
 * that parser's structured handler, so that libxml2 never writes to standard error. */
#include "server/base/xml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { NAME_SIZE = 256 }; /* longer names with a prefix are cut; such are nobody's */

struct walk {
    xmlParserCtxtPtr parser;
    const struct xml_limits *limits;
    const struct xml_handler *handler;
    struct failure *failure;
    size_t depth, elements;
    enum status status;   /* what ended the walk early */
    struct failure error; /* libxml2's first complaint */
};

static int line_of(const struct walk *walk)
{
    return walk->parser->input == NULL ? 0 : walk->parser->input->line;
}

static struct text text_of(const xmlChar *string, size_t length)
{
    return (struct text){(const char *)string, length};
}

static void stop(struct walk *walk, enum status status)
{
    if (status == STATUS_OK || walk->status != STATUS_OK)
        return;
    walk->status = status;
    xmlStopParser(walk->parser);
}

/* A prefix is kept as it was written, since name spaces mean nothing here. */
static struct text full_name(const xmlChar *name, const xmlChar *prefix, char *whole, size_t size)
{
    if (prefix == NULL)
        return text_from((const char *)name);
    snprintf(whole, size, "%s:%s", (const char *)prefix, (const char *)name);
    return text_from(whole);
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int name_space_count, const xmlChar **name_spaces, int attribute_count,
                     int default_count, const xmlChar **attributes)
{
    struct walk *walk = context;
    const struct xml_handler *handler = walk->handler;
    char whole[NAME_SIZE];

    (void)uri;
    (void)name_space_count;
    (void)name_spaces;
    (void)attribute_count;
    (void)default_count;
    (void)attributes;
    if (walk->status != STATUS_OK)
        return;
    if (++walk->depth > walk->limits->depth_max) {
        stop(walk, fail(walk->failure, STATUS_TOO_LARGE, "line %d: more than %zu levels",
                        line_of(walk), walk->limits->depth_max));
        return;
    }
    if (++walk->elements > walk->limits->elements_max) {
        stop(walk, fail(walk->failure, STATUS_TOO_LARGE, "line %d: more than %zu elements",
                        line_of(walk), walk->limits->elements_max));
        return;
    }
    if (handler->start != NULL)
        stop(walk, handler->start(handler->context, full_name(name, prefix, whole, sizeof whole),
                                  line_of(walk)));
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct walk *walk = context;
    const struct xml_handler *handler = walk->handler;
    char whole[NAME_SIZE];

    (void)uri;
    if (walk->status != STATUS_OK)
        return;
    if (walk->depth > 0)
        walk->depth--;
    if (handler->end != NULL)
        stop(walk, handler->end(handler->context, full_name(name, prefix, whole, sizeof whole),
                                line_of(walk)));
}

static void on_text(void *context, const xmlChar *characters, int length)
{
    struct walk *walk = context;
    const struct xml_handler *handler = walk->handler;

    if (walk->status != STATUS_OK || handler->text == NULL || length <= 0)
        return;
    stop(walk, handler->text(handler->context, text_of(characters, (size_t)length), line_of(walk)));
}

static void on_doctype(void *context, const xmlChar *name, const xmlChar *external,
                       const xmlChar *uri)
{
    struct walk *walk = context;

    (void)name;
    (void)external;
    (void)uri;
    stop(walk, fail(walk->failure, STATUS_INVALID,
                    "line %d: a document type declaration is not accepted", line_of(walk)));
}

static void on_error(void *context, xmlErrorPtr error)
{
    struct walk *walk = context;
    struct text message = text_trim(text_from(error->message));

    if (error->level < XML_ERR_ERROR || error->domain == XML_FROM_NAMESPACE ||
        walk->error.status != STATUS_OK)
        return;
    fail(&walk->error, STATUS_INVALID, "line %d: " TEXT_FORMAT, error->line, TEXT_ARG(message));
    for (char *at = walk->error.text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

static void set_up(xmlParserCtxtPtr parser, struct walk *walk)
{
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_COMPACT |
                                  (walk->limits->recover ? XML_PARSE_RECOVER : 0));
    /* After the options, which put functions of libxml2's own into the table. */
    *parser->sax = (xmlSAXHandler){
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
        .internalSubset = on_doctype,
        .serror = on_error,
    };
    parser->userData = walk;
    walk->parser = parser;
}

static enum status run(xmlParserCtxtPtr parser, struct walk *walk)
{
    bool well_formed;

    if (parser == NULL)
        return fail(walk->failure, STATUS_NO_MEMORY, "no memory for an XML parser");
    set_up(parser, walk);
    xmlParseDocument(parser);
    well_formed = parser->wellFormed;
    xmlFreeDoc(parser->myDoc); /* none is made; NULL is fine */
    xmlFreeParserCtxt(parser);

    if (walk->status != STATUS_OK)
        return walk->status;
    if (!well_formed && !walk->limits->recover)
        return fail(walk->failure, STATUS_INVALID, "%s",
                    walk->error.status == STATUS_OK ? "not well-formed" : walk->error.text);
    return STATUS_OK;
}

enum status xml_walk(struct text document, const struct xml_limits *limits,
                     const struct xml_handler *handler, struct failure *failure)
{
    struct walk walk = {.limits = limits, .handler = handler, .failure = failure};

    if (document.length > limits->bytes_max || document.length > INT_MAX)
        return fail(failure, STATUS_TOO_LARGE, "%zu bytes are more than %zu", document.length,
                    limits->bytes_max);
    if (document.length == 0)
        return fail(failure, STATUS_INVALID, "empty document");
    if (memchr(document.at, '\0', document.length) != NULL)
        return fail(failure, STATUS_INVALID, "a NUL byte in the document");
    return run(xmlCreateMemoryParserCtxt(document.at, (int)document.length), &walk);
}

/* libxml2 asks for more bytes before each step for which fewer than 250 are left, and at the end of
 * a document again and again in vain: a quarter of the work for a usual request. Blanks may stand
 * behind the root. */
static const char tail[] = "                                                                "
                           "                                                                "
                           "                                                                "
                           "                                                                ";

/* A document in pieces, as libxml2 asks for it: so many bytes at most. */
struct feed {
    const struct xml_source *source;
    struct text rest; /* of the newest piece */
    bool has_ended;   /* and that is the tail */
};

static int on_read(void *context, char *to, int size)
{
    struct feed *feed = context;
    size_t length;

    if (feed->rest.length == 0)
        feed->rest = feed->has_ended ? NO_TEXT : feed->source->next(feed->source->context);
    if (feed->rest.length == 0 && !feed->has_ended) {
        feed->rest = (struct text){.at = tail, .length = sizeof(tail) - 1};
        feed->has_ended = true;
    }
    if (feed->rest.length == 0)
        return 0;
    length = feed->rest.length < (size_t)size ? feed->rest.length : (size_t)size;
    memcpy(to, feed->rest.at, length);
    feed->rest = (struct text){feed->rest.at + length, feed->rest.length - length};
    return (int)length;
}

enum status xml_walk_pieces(const struct xml_source *source, const struct xml_limits *limits,
                            const struct xml_handler *handler, struct failure *failure)
{
    struct walk walk = {.limits = limits, .handler = handler, .failure = failure};
    struct feed feed = {.source = source};

    return run(xmlCreateIOParserCtxt(NULL, NULL, on_read, NULL, &feed, XML_CHAR_ENCODING_NONE),
               &walk);
}

void xml_startup(void)
{
    xmlInitParser();
}

void xml_shutdown(void)
{
    xmlCleanupParser();
}

const char *xml_library_version(void)
{
    return "libxml2 " LIBXML_DOTTED_VERSION;
}
