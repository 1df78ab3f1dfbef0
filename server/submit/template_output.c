/* SPDX-License-Identifier: Apache-2.0 */
/* A result template becomes a row of pieces: text that stays, places where the base name of the
 * result's files goes, and places where a certificate is made over the name and the size limit of
 * the file before it. Invariant: pieces of one file_info end with its certificate. */
#include "server/submit/template_output.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/project/hierarchy.h"
#include "server/submit/template_input.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

#define FILES_MAX  1000
#define PIECES_MAX (16 * FILES_MAX)
#define BYTES_MAX  INT64_C(1000000000000000)

enum piece_kind { PIECE_TEXT, PIECE_BASE_NAME, PIECE_CERTIFICATE };

struct output_piece {
    enum piece_kind kind;
    struct text text;  /* of a certificate: what <name> holds, placeholders not yet replaced */
    int64_t max_bytes; /* of a certificate */
};

struct compiler {
    struct arena *arena;
    const struct output_options *options;
    struct output_template *output;
    struct failure *failure;
};

static enum status add_piece(struct compiler *compiler, struct output_piece piece)
{
    struct output_template *output = compiler->output;
    if (output->piece_count == PIECES_MAX)
        return fail(compiler->failure, STATUS_TOO_LARGE, "%s: too many placeholders",
                    output->file.name);
    output->pieces[output->piece_count++] = piece;
    return STATUS_OK;
}

/* <OUTFILE_3/> gives "3"; false: no placeholder begins here. */
static bool outfile_suffix(struct text at, struct text *ret_suffix, size_t *ret_length)
{
    struct text opener = TEXT("<OUTFILE_");
    if (!text_starts(at, opener))
        return false;
    size_t end = text_find(at, TEXT("/>"));
    if (end == at.length)
        return false;
    *ret_suffix = (struct text){at.at + opener.length, end - opener.length};
    *ret_length = end + 2;
    return true;
}

static enum status add_text(struct compiler *compiler, struct text text)
{
    while (text.length > 0) {
        struct text suffix;
        size_t length = 0;
        enum status status = STATUS_OK;
        if (outfile_suffix(text, &suffix, &length)) {
            status = add_piece(compiler, (struct output_piece){.kind = PIECE_BASE_NAME});
            if (status == STATUS_OK)
                status =
                    add_piece(compiler, (struct output_piece){.kind = PIECE_TEXT, .text = suffix});
        } else {
            struct text behind = {text.at + 1, text.length - 1};
            length = 1 + text_find(behind, TEXT("<OUTFILE_"));
            status = add_piece(compiler, (struct output_piece){.kind = PIECE_TEXT,
                                                               .text = text_first(text, length)});
        }
        if (status != STATUS_OK)
            return status;
        text = (struct text){text.at + length, text.length - length};
    }
    return STATUS_OK;
}

/* The upload URL does not depend on the result, so it goes in before the text is cut up. */
static struct text with_upload_url(struct compiler *compiler, struct text text)
{
    struct text place = TEXT("<UPLOAD_URL/>");
    struct buffer buffer = buffer_in(compiler->arena);
    while (text.length > 0) {
        size_t length = text_find(text, place);
        buffer_add(&buffer, text_first(text, length));
        if (length == text.length)
            break;
        buffer_add_xml(&buffer, compiler->options->upload_url);
        compiler->output->uses_upload_url = true;
        length += place.length;
        text = (struct text){text.at + length, text.length - length};
    }
    return buffer_text(&buffer);
}

static enum status add_written(struct compiler *compiler, struct buffer *buffer)
{
    if (buffer->overflowed)
        return fail(compiler->failure, STATUS_NO_MEMORY, "%s: no memory",
                    compiler->output->file.name);
    return add_text(compiler, with_upload_url(compiler, buffer_text(buffer)));
}

static void write_base_name(struct buffer *buffer, struct text result_name, uint32_t number)
{
    buffer_print(buffer, TEXT_FORMAT "_r%" PRIu32 "_", TEXT_ARG(result_name), number);
}

static void write_name(struct buffer *buffer, struct text name, struct text result_name,
                       uint32_t number)
{
    while (name.length > 0) {
        struct text suffix;
        size_t length = 1;
        if (outfile_suffix(name, &suffix, &length)) {
            write_base_name(buffer, result_name, number);
            buffer_add(buffer, suffix);
        } else {
            buffer_add_char(buffer, name.at[0]);
        }
        name = (struct text){name.at + length, name.length - length};
    }
}

/* The name that a result's file will have. */
static enum status check_name(struct compiler *compiler, const struct template_element *name)
{
    struct buffer written = buffer_in(compiler->arena);
    const char *fault;

    write_name(&written, name->content, TEXT("x"), 0);
    fault = file_name_fault(buffer_text(&written));
    return fault == NULL ? STATUS_OK
                         : template_fail(&compiler->output->file, name, compiler->failure,
                                         "the file name %s", fault);
}

static enum status check_upload_url(struct compiler *compiler,
                                    const struct template_element *element)
{
    if (compiler->options->upload_url.length > 0)
        return STATUS_OK;
    if (text_contains(element->content, TEXT("<UPLOAD_URL/>")))
        return template_fail(&compiler->output->file, element, compiler->failure,
                             "config.xml has no upload_url to put here");
    for (const struct template_element *child = element->first_child; child; child = child->next) {
        enum status status = check_upload_url(compiler, child);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status add_file(struct compiler *compiler, const struct template_element *element)
{
    const struct template_file *file = &compiler->output->file;
    const struct template_element *name = template_child(element, "name");
    const struct template_element *limit = template_child(element, "max_nbytes");
    double exp_days, max_bytes = 0;
    enum status status = template_check_file(file, element, &exp_days, compiler->failure);
    if (status != STATUS_OK)
        return status;
    if (name == NULL || name->content.length == 0)
        return template_fail(file, element, compiler->failure,
                             "needs a <name>, such as <name><OUTFILE_0/></name>");
    status = check_name(compiler, name);
    if (status != STATUS_OK)
        return status;
    if (limit == NULL && compiler->options->certificates)
        return template_fail(file, element, compiler->failure,
                             "needs max_nbytes: its upload certificate covers it");
    if (limit != NULL) {
        status = template_number(file, limit, 1, (double)BYTES_MAX, &max_bytes, compiler->failure);
        if (status != STATUS_OK)
            return status;
    }
    /* The certificate stands before the end tag; a newline behind the start tag is a must. */
    struct buffer buffer = buffer_in(compiler->arena);
    buffer_add_string(&buffer, "<file_info>\n");
    for (const struct template_element *child = element->first_child; child; child = child->next)
        template_write(&buffer, child, 1);
    if (compiler->options->sticky_lifetime && exp_days >= 0 &&
        template_child(element, "sticky_lifetime") == NULL)
        template_write_lifetime(&buffer, exp_days);
    status = add_written(compiler, &buffer);
    if (status == STATUS_OK && compiler->options->certificates)
        status = add_piece(compiler, (struct output_piece){.kind = PIECE_CERTIFICATE,
                                                           .text = name->content,
                                                           .max_bytes = (int64_t)max_bytes});
    if (status == STATUS_OK)
        status = add_text(compiler, TEXT("</file_info>\n"));
    compiler->output->file_count++;
    return status;
}

static bool has_file(const struct output_template *output, struct text name)
{
    for (const struct template_element *element = output->file.first; element;
         element = element->next) {
        const struct template_element *found = template_child(element, "name");
        if (text_is(element->name, "file_info") && found != NULL &&
            text_equal(found->content, name))
            return true;
    }
    return false;
}

static enum status check_reference(struct compiler *compiler,
                                   const struct template_element *element)
{
    const struct template_file *file = &compiler->output->file;
    const struct template_element *name = template_child(element, "file_name"),
                                  *open_name = template_child(element, "open_name");
    if (name == NULL)
        return template_fail(file, element, compiler->failure, "needs a <file_name>");
    if (!has_file(compiler->output, name->content))
        return template_fail(file, name, compiler->failure, "no file_info has this name");
    if (open_name == NULL && template_child(element, "copy_file") == NULL)
        return template_fail(file, element, compiler->failure, "needs an open_name, or copy_file");
    return open_name == NULL ? STATUS_OK
                             : template_check_open_name(file, open_name, compiler->failure);
}

static enum status add_result(struct compiler *compiler, const struct template_element *element)
{
    struct buffer buffer = buffer_in(compiler->arena);
    buffer_add_string(&buffer, "<result>\n");
    for (const struct template_element *child = element->first_child; child; child = child->next) {
        if (text_is(child->name, "file_ref")) {
            enum status status = check_reference(compiler, child);
            if (status != STATUS_OK)
                return status;
        }
        template_write(&buffer, child, 1);
    }
    buffer_add_string(&buffer, "</result>");
    return add_written(compiler, &buffer);
}

static enum status compile(struct compiler *compiler)
{
    struct output_template *output = compiler->output;
    const struct template_element *result = NULL;
    for (const struct template_element *element = output->file.first; element;
         element = element->next) {
        bool is_file = text_is(element->name, "file_info");
        if (!is_file && !text_is(element->name, "result"))
            return template_fail(&output->file, element, compiler->failure,
                                 "only file_info and result are allowed here");
        if (result != NULL)
            return template_fail(&output->file, element, compiler->failure,
                                 "nothing is allowed behind </result>");
        if (is_file && output->file_count == FILES_MAX)
            return template_fail(&output->file, element, compiler->failure, "more than %d files",
                                 FILES_MAX);
        enum status status = check_upload_url(compiler, element);
        if (status == STATUS_OK)
            status = is_file ? add_file(compiler, element) : add_result(compiler, element);
        if (status != STATUS_OK)
            return status;
        if (!is_file)
            result = element;
    }
    if (result == NULL)
        return fail(compiler->failure, STATUS_INVALID, "%s: no <result> in it", output->file.name);
    return STATUS_OK;
}

struct output_options output_options_from(const struct config *config)
{
    return (struct output_options){.upload_url = config->upload_url,
                                   .certificates = !config->dont_generate_upload_certificates,
                                   .sticky_lifetime = config->deletion_policy_expire};
}

enum status output_template_read(struct arena *arena, const char *name, struct text document,
                                 const struct output_options *options,
                                 struct output_template *ret_output, struct failure *failure)
{
    struct output_template output = {.piece_count = 0};
    enum status status =
        template_read(arena, name, document, "output_template", &output.file, failure);
    if (status != STATUS_OK)
        return status;
    output.pieces = ARENA_ARRAY(arena, PIECES_MAX, struct output_piece);
    if (output.pieces == NULL)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory", name);
    struct compiler compiler = {
        .arena = arena, .options = options, .output = &output, .failure = failure};
    status = compile(&compiler);
    if (status == STATUS_OK)
        *ret_output = output;
    return status;
}

static enum status write_certificate(struct arena *arena, const struct output_piece *piece,
                                     struct text result_name, uint32_t number,
                                     struct rsa_signer *upload_signer, struct buffer *buffer,
                                     struct failure *failure)
{
    char md5[MD5_HEX_SIZE];
    struct text signature;
    struct buffer claim = buffer_in(arena);
    buffer_add_string(&claim, "<name>");
    write_name(&claim, piece->text, result_name, number);
    buffer_print(&claim, "</name><max_nbytes>%" PRId64 "</max_nbytes>", piece->max_bytes);
    md5_hex(buffer_text(&claim), NO_TEXT, md5);
    enum status status = rsa_signer_sign(upload_signer, arena, md5, &signature, failure);
    if (status != STATUS_OK)
        return status;
    signature = text_trim(signature);
    /* Old parsers take hex digits from the beginning of a line up to the dot. */
    buffer_print(buffer, "    <xml_signature>\n" TEXT_FORMAT "\n    </xml_signature>\n",
                 TEXT_ARG(signature));
    return STATUS_OK;
}

int64_t output_template_largest(const struct output_template *output)
{
    int64_t largest = 0;

    for (size_t i = 0; i < output->piece_count; i++)
        if (output->pieces[i].kind == PIECE_CERTIFICATE && output->pieces[i].max_bytes > largest)
            largest = output->pieces[i].max_bytes;
    return largest;
}

enum status output_template_write(const struct output_template *output, struct arena *arena,
                                  struct text result_name, uint32_t number,
                                  struct rsa_signer *upload_signer, struct buffer *buffer,
                                  struct failure *failure)
{
    size_t before = buffer->length;
    for (size_t i = 0; i < output->piece_count; i++) {
        const struct output_piece *piece = &output->pieces[i];
        enum status status = STATUS_OK;
        switch (piece->kind) {
        case PIECE_TEXT:
            buffer_add(buffer, piece->text);
            break;
        case PIECE_BASE_NAME:
            write_base_name(buffer, result_name, number);
            break;
        case PIECE_CERTIFICATE:
            status = write_certificate(arena, piece, result_name, number, upload_signer, buffer,
                                       failure);
            break;
        }
        if (status != STATUS_OK)
            return status;
    }
    if (buffer->overflowed)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory", output->file.name);
    if (buffer->length - before > JOB_DOCUMENT_MAX)
        return fail(failure, STATUS_TOO_LARGE, "%s: the result's document has more than %d bytes",
                    output->file.name, JOB_DOCUMENT_MAX);
    return STATUS_OK;
}
