/* SPDX-License-Identifier: Apache-2.0 */
/* XML's own five entities, read where no XML is parsed: names of files in heads of uploads and in
 * the documents of results. Both are to lead to the same file. */
#ifndef SERVER_BASE_ENTITY_H
#define SERVER_BASE_ENTITY_H

struct text;

/* Takes the character that *rest, which is not empty, begins with: an entity stands for one, and
 * what is none for itself. */
char entity_take(struct text *rest);

#endif
