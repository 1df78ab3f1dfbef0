/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a form that was posted, field by field as its bytes come, in either encoding
 * (application/x-www-form-urlencoded, multipart/form-data). Memory: a few kilobytes, whatever
 * comes. Pure. */
#ifndef SERVER_SUBMISSION_FORM_H
#define SERVER_SUBMISSION_FORM_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FORM_FIELDS_MAX = 100000,
    FORM_NAME_MAX = 255, /* bytes of a field's name; a longer one is cut */
    FORM_LINE_MAX = 1024 /* of a head's line in a part */
};

/* What is told of a field, in this order. One that answers anything but STATUS_OK ends the reading
 * with that. */
struct form_taker {
    void *context;
    /* `is_file`: it came with a file name. */
    enum status (*begin)(void *context, struct text name, bool is_file);
    enum status (*add)(void *context, struct text bytes);
    enum status (*end)(void *context);
};

/* One body. Begin with form_begin; its members are form.c's. */
struct form {
    struct form_taker taker;
    struct failure *failure;
    enum form_stage {
        FORM_NAME,     /* urlencoded: before the = */
        FORM_VALUE,    /* behind it */
        FORM_BEFORE,   /* multipart: before the first boundary */
        FORM_BOUNDARY, /* the rest of a boundary's line */
        FORM_HEAD,     /* the head of a part */
        FORM_CONTENT,  /* its bytes */
        FORM_BEHIND    /* the last boundary: the rest is ignored */
    } stage;
    size_t fields;
    char name[FORM_NAME_MAX + 1];
    size_t name_length;
    bool is_file;
    /* urlencoded: of a %XX that is not whole yet. */
    char escape[2];
    size_t escape_length; /* 0: none is under way; 1: the % came; 2: and a digit */
    /* multipart */
    char delimiter[80]; /* a line end, -- and the boundary */
    size_t delimiter_length, matched;
    char line[FORM_LINE_MAX];
    size_t line_length;
};

/* `content_type` as the request has it. STATUS_INVALID: it is of no form that we read. */
MUST_CHECK enum status form_begin(struct form *form, struct text content_type,
                                  const struct form_taker *taker, struct failure *failure);
MUST_CHECK enum status form_add(struct form *form, struct text bytes);
/* Nothing more comes. STATUS_INVALID: it was not whole. */
MUST_CHECK enum status form_end(struct form *form);

#endif
