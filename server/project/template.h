/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a template file into a tree of elements that remember their lines. Templates are not XML
 * documents: they may have several root elements, and unknown elements are copied verbatim. They
 * therefore have their own reader. It is strict: anything that it does not understand is an error
 * that names file, line and element. */
#ifndef SERVER_PROJECT_TEMPLATE_H
#define SERVER_PROJECT_TEMPLATE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

struct arena;
struct buffer;

struct template_element {
    struct text name;
    struct text content; /* of an element without children: what stands in it, trimmed */
    int line;            /* of its start tag */
    struct template_element *first_child, *last_child;
    struct template_element *next;
};

struct template_file {
    const char *name; /* for messages */
    struct template_element *first;
};

#define TEMPLATE_BYTES_MAX (256 * 1024)

/* Elements at top level; a single `wrapper` element around everything is taken off. Placeholders
 * (<OUTFILE_x/>, <UPLOAD_URL/>) count as text. Slices of `document` are kept. */
MUST_CHECK enum status template_read(struct arena *arena, const char *name, struct text document,
                                     const char *wrapper, struct template_file *ret_template,
                                     struct failure *failure);

/* "in.xml:7: <rsc_fpops_est>: not a number" */
enum status template_fail(const struct template_file *file, const struct template_element *element,
                          struct failure *failure, const char *format, ...) PRINTF_LIKE(4, 5);

/* Numbers with their range, or an error. */
MUST_CHECK enum status template_number(const struct template_file *file,
                                       const struct template_element *element, double minimum,
                                       double maximum, double *ret_number, struct failure *failure);
MUST_CHECK enum status template_integer(const struct template_file *file,
                                        const struct template_element *element, int64_t minimum,
                                        int64_t maximum, int64_t *ret_number,
                                        struct failure *failure);
/* <x/>, <x>1</x> and <x>0</x>. */
MUST_CHECK enum status template_flag(const struct template_file *file,
                                     const struct template_element *element, bool *ret_flag,
                                     struct failure *failure);

const struct template_element *template_child(const struct template_element *element,
                                              const char *name);

/* Writes the element with its children, each tag on a line of its own. */
void template_write(struct buffer *buffer, const struct template_element *element, int depth);

/* Checks what policy(7) 14.1 has in file_info: priority 1 to 5, exp_days >= 0, URLs that clients
 * can fetch; *ret_exp_days is -1 when it is absent. */
MUST_CHECK enum status template_check_file(const struct template_file *file,
                                           const struct template_element *file_info,
                                           double *ret_exp_days, struct failure *failure);
/* Of a file_ref: clients drop those whose name they refuse. */
MUST_CHECK enum status template_check_open_name(const struct template_file *file,
                                                const struct template_element *open_name,
                                                struct failure *failure);
/* Writes <sticky_lifetime> for what exp_days says, in s, at least 1: clients take 0 for ever. */
void template_write_lifetime(struct buffer *buffer, double exp_days);

#endif
