/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the tags of a document. Invariant: every step consumes text, so the walk takes as
 * long as the document is; the search for the file_info of each file_ref is bounded by
 * OUTPUT_FILES_MAX. */
#include "server/submit/output_files.h"

#include "server/base/arena.h"
#include "server/base/entity.h"
#include "server/project/hierarchy.h"

#include <string.h>

#include "server/base/banned.h"

enum { NUMBER_DIGITS_MAX = 10 /* of 32 bits */ };

enum doc_tag_kind { DOC_TAG_OPEN, DOC_TAG_CLOSE, DOC_TAG_EMPTY };

struct doc_tag {
    enum doc_tag_kind kind;
    struct text name;
    struct text before; /* what stands between the tag before and this one */
};

struct doc_files {
    struct output_file *files;
    size_t count, room;
};

static struct text behind(struct text text, size_t offset)
{
    return offset < text.length ? (struct text){text.at + offset, text.length - offset} : NO_TEXT;
}

/* Comments are no tags. False: there is none left. */
static bool next_tag(struct text *rest, struct doc_tag *ret_tag)
{
    const struct text opener = TEXT("<!--"), closer = TEXT("-->");
    size_t at;
    for (;;) {
        at = text_find(*rest, TEXT("<"));
        if (!text_starts(behind(*rest, at), opener))
            break;
        *rest = behind(*rest, at + opener.length);
        *rest = behind(*rest, text_find(*rest, closer) + closer.length);
    }
    struct text inside = behind(*rest, at + 1);
    size_t end = text_find(inside, TEXT(">"));
    if (end == inside.length)
        return false;
    *ret_tag = (struct doc_tag){.kind = DOC_TAG_OPEN, .before = text_first(*rest, at)};
    *rest = behind(inside, end + 1);
    inside = text_first(inside, end);
    if (text_starts(inside, TEXT("/"))) {
        ret_tag->kind = DOC_TAG_CLOSE;
        inside = behind(inside, 1);
    } else if (text_ends(inside, TEXT("/"))) {
        ret_tag->kind = DOC_TAG_EMPTY;
        inside.length--;
    }
    size_t length = 0;
    while (length < inside.length && strchr(" \t\r\n", inside.at[length]) == NULL)
        length++;
    ret_tag->name = text_first(inside, length);
    return true;
}

/* Trimmed, and as the upload handler reads the name. */
static struct text decoded(struct arena *arena, struct text text)
{
    text = text_trim(text);
    char *copy = arena_alloc(arena, text.length);
    size_t length = 0;
    while (copy != NULL && text.length > 0)
        copy[length++] = entity_take(&text);
    return (struct text){copy, length};
}

/* <x/> and <x>1</x>, but not <x>0</x>. */
static bool flag(const struct doc_tag *tag)
{
    return tag->kind == DOC_TAG_EMPTY || !text_is(text_trim(tag->before), "0");
}

/* A child of file_info or file_ref: an empty tag, or the end tag with the text before it. */
static void read_child(struct arena *arena, const struct doc_tag *tag, bool is_info,
                       struct output_file *file)
{
    double number;
    if (text_is(tag->name, is_info ? "name" : "file_name"))
        file->name = decoded(arena, tag->before);
    else if (text_is(tag->name, "open_name") && !is_info)
        file->open_name = decoded(arena, tag->before);
    else if (text_is(tag->name, "max_nbytes") && text_to_real(tag->before, &number) && number > 0)
        file->max_nbytes = number;
    else if (text_is(tag->name, "optional"))
        file->optional = flag(tag);
    else if (text_is(tag->name, "no_validate"))
        file->no_validate = flag(tag);
    else if (text_is(tag->name, "no_delete"))
        file->no_delete = flag(tag);
    else if (text_is(tag->name, "sticky"))
        file->sticky = flag(tag);
    else if (text_is(tag->name, "gzip_when_done"))
        file->gzipped = flag(tag);
}

static enum status keep_file(struct doc_files *kept, const struct output_file *file)
{
    if (file->name.length == 0)
        return STATUS_OK;
    if (kept->count == kept->room)
        return STATUS_TOO_LARGE;
    kept->files[kept->count++] = *file;
    return STATUS_OK;
}

static void add_info(struct output_file *file, const struct doc_files *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const struct output_file *info = &infos->files[i];
        if (!text_equal(info->name, file->name))
            continue;
        file->max_nbytes = info->max_nbytes;
        file->optional |= info->optional;
        file->no_validate |= info->no_validate;
        file->no_delete |= info->no_delete;
        file->sticky |= info->sticky;
        file->gzipped |= info->gzipped;
        return;
    }
}

enum status output_files_read(struct arena *arena, struct text xml_doc_in,
                              struct output_file **ret_files, size_t *ret_count)
{
    /* As many as the document may hold, so that a short one costs little. */
    size_t room = xml_doc_in.length / strlen("<file_ref>") + 1;
    room = room < OUTPUT_FILES_MAX ? room : OUTPUT_FILES_MAX;
    struct doc_files infos = {.files = ARENA_ARRAY(arena, room, struct output_file), .room = room};
    struct doc_files refs = {.files = ARENA_ARRAY(arena, room, struct output_file), .room = room};
    struct doc_files *open = NULL; /* which kind of element we are in; NULL: neither */
    struct output_file file = {.max_nbytes = 0};
    struct doc_tag tag;
    if (infos.files == NULL || refs.files == NULL)
        return STATUS_NO_MEMORY;
    while (next_tag(&xml_doc_in, &tag)) {
        bool is_info = text_is(tag.name, "file_info");
        if (is_info || text_is(tag.name, "file_ref")) {
            enum status status = open != NULL ? keep_file(open, &file) : STATUS_OK;
            if (status != STATUS_OK)
                return status;
            file = (struct output_file){.max_nbytes = 0};
            open = tag.kind == DOC_TAG_OPEN ? is_info ? &infos : &refs : NULL;
        } else if (open != NULL && tag.kind != DOC_TAG_OPEN) {
            read_child(arena, &tag, open == &infos, &file);
        }
    }
    for (size_t i = 0; i < refs.count; i++) {
        add_info(&refs.files[i], &infos);
        if (refs.files[i].open_name.length == 0)
            refs.files[i].open_name = refs.files[i].name;
    }
    *ret_files = refs.files;
    *ret_count = refs.count;
    return arena_overflowed(arena) ? STATUS_NO_MEMORY : STATUS_OK;
}

struct text output_file_path(struct arena *arena, const struct output_file *file,
                             struct text upload_dir, int64_t fanout)
{
    struct text name = file->name;
    bool leads_out = name.length == 0 || text_contains(name, TEXT("/")) || text_is(name, ".") ||
                     text_contains(name, TEXT("..")) ||
                     (name.at != NULL && memchr(name.at, '\0', name.length) != NULL);
    return leads_out ? NO_TEXT : hierarchy_path(arena, upload_dir, name, fanout);
}

/* How many digits the text ends in. */
static size_t digits_at_end(struct text text)
{
    size_t count = 0;

    while (count < text.length && text.at[text.length - 1 - count] >= '0' &&
           text.at[text.length - 1 - count] <= '9')
        count++;
    return count;
}

/* Of RESULT_rNUMBER the result's name, which ends in _NUMBER itself. */
static struct text without_number(struct text base)
{
    const struct text mark = TEXT("_r");
    size_t digits = digits_at_end(base);
    struct text result = text_first(base, base.length - digits);

    if (digits == 0 || digits > NUMBER_DIGITS_MAX || !text_ends(result, mark))
        return NO_TEXT;
    result.length -= mark.length;
    digits = digits_at_end(result);
    return digits > 0 && digits + 1 < result.length && result.at[result.length - digits - 1] == '_'
               ? result
               : NO_TEXT;
}

/* The suffix stands behind the last number that fits. */
struct text output_file_result(struct text name)
{
    struct text result = NO_TEXT;

    if (job_name_fault(name) != NULL)
        return NO_TEXT;
    for (size_t length = name.length - 1; length > 0 && result.length == 0; length--)
        if (name.at[length] == '_' && length + 1 < name.length)
            result = without_number(text_first(name, length));
    return result;
}
