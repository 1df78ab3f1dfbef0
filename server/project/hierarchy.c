/* SPDX-License-Identifier: Apache-2.0 */
/* The spreading of files over subfolders. Other programs of a project (upload handler, file
 * deleter, the web pages) compute the same folder, so the formula is fixed for ever: seven hex
 * digits of the MD5 of the name, after its first digit, modulo the fanout, in hex without zeros
 * in front. */
#include "server/project/hierarchy.h"

#include "server/base/buffer.h"
#include "server/base/crypto.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "server/base/banned.h"

#define FILE_NAME_MAX 200 /* bytes; clients keep 255 with what they add, the database 254 */
#define NAME_SHOWN    60

static int64_t hash_of_name(struct text name)
{
    char hex[MD5_HEX_SIZE];
    md5_hex(name, NO_TEXT, hex);
    int64_t hash = 0;
    for (int i = 1; i <= 7; i++) {
        int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
        hash = hash * 16 + digit;
    }
    return hash;
}

void hierarchy_folder(struct text name, int64_t fanout, char ret_folder[HIERARCHY_FOLDER_SIZE])
{
    ret_folder[0] = '\0';
    if (fanout > 0)
        (void)snprintf(ret_folder, HIERARCHY_FOLDER_SIZE, "%" PRIx64,
                       (uint64_t)(hash_of_name(name) % fanout));
}

static struct text without_slash(struct text dir)
{
    while (dir.length > 1 && dir.at[dir.length - 1] == '/')
        dir.length--;
    return dir;
}

struct text hierarchy_path(struct arena *arena, struct text dir, struct text name, int64_t fanout)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    hierarchy_folder(name, fanout, folder);
    return text_print(arena, TEXT_FORMAT "/%s%s" TEXT_FORMAT, TEXT_ARG(without_slash(dir)), folder,
                      folder[0] != '\0' ? "/" : "", TEXT_ARG(name));
}

bool hierarchy_has_file(struct arena *arena, struct text dir, struct text name, int64_t fanout,
                        double bytes)
{
    struct text path = hierarchy_path(arena, dir, name, fanout);
    struct stat found;
    return path.length > 0 && stat(text_string(arena, path), &found) == 0 &&
           (double)found.st_size >= bytes;
}

void hierarchy_write(struct buffer *buffer, struct text dir, struct text name, int64_t fanout)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    hierarchy_folder(name, fanout, folder);
    buffer_add_xml(buffer, without_slash(dir));
    buffer_print(buffer, "/%s%s", folder, folder[0] != '\0' ? "/" : "");
    buffer_add_xml(buffer, name);
}

const char *open_name_fault(struct text name)
{
    if (name.length == 0)
        return "is empty";
    if (text_contains(name, TEXT("%")))
        return "contains a percent sign";
    return text_contains(name, TEXT("..")) ? "contains two dots in a row" : NULL;
}

static const char *character_fault(char c)
{
    if (c == ' ')
        return "contains a blank";
    if ((unsigned char)c < ' ' || c == 127)
        return "contains a control character";
    if ((unsigned char)c > 127)
        return "contains a character that is not ASCII";
    if (c == '/' || c == '\\')
        return "contains a slash";
    return text_contains(TEXT("\"'<>&?"), (struct text){&c, 1})
               ? "contains one of the characters \" ' < > & ?"
               : NULL;
}

const char *job_name_fault(struct text name)
{
    const char *fault = NULL;

    if (name.length > FILE_NAME_MAX)
        return "has more than 200 bytes";
    if (text_starts(name, TEXT(".")))
        return "begins with a dot";
    for (size_t i = 0; i < name.length && fault == NULL; i++)
        fault = character_fault(name.at[i]);
    return fault != NULL ? fault : open_name_fault(name);
}

/* Clients take what follows it in a URL for a part of the page. */
const char *file_name_fault(struct text name)
{
    return text_contains(name, TEXT("#")) ? "contains the character #" : job_name_fault(name);
}

static enum status check_name(const char *what, struct text name, const char *fault,
                              struct failure *failure)
{
    return fault == NULL ? STATUS_OK
                         : fail(failure, STATUS_INVALID, "the %s \"" TEXT_FORMAT "\" %s", what,
                                TEXT_ARG(text_first(name, NAME_SHOWN)), fault);
}

enum status file_name_check(const char *what, struct text name, struct failure *failure)
{
    return check_name(what, name, file_name_fault(name), failure);
}

enum status job_name_check(const char *what, struct text name, struct failure *failure)
{
    return check_name(what, name, job_name_fault(name), failure);
}

const char *url_fault(struct text url)
{
    if (url.length == 0)
        return "is empty";
    for (size_t i = 0; i < url.length; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 127)
            return "contains a blank or a control character (write %20 for a blank)";
    return text_contains(url, TEXT("://")) ? NULL : "does not begin with http:// or https://";
}

const char *url_upload_fault(struct text url)
{
    return text_contains(url, TEXT("file_upload_handler"))
               ? NULL
               : "lacks file_upload_handler: clients take it for a URL to download from";
}
