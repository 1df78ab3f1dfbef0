/* SPDX-License-Identifier: Apache-2.0 */
/* What an upload is answered, row by row. */
#include "tests/support/test.h"

#include "server/upload/upload_decision.h"
#include "tests/support/case_arena.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define MEGABYTE INT64_C(1000000)

static const struct upload_limits open_to_all = {
    .ignores_certificates = true, .bytes_max = 10 * MEGABYTE, .free_least = MEGABYTE};
static const struct upload_on_disk nothing_there = {
    .finished = -1, .partial = -1, .free_bytes = 100 * MEGABYTE};

static struct upload_head file_head(int64_t nbytes, int64_t offset)
{
    return (struct upload_head){
        .kind = UPLOAD_FILE, .name = "foo_0_0", .nbytes = nbytes, .offset = offset};
}

static const struct upload_head query = {.kind = UPLOAD_QUERY, .name = "foo_0_0"};

static void by_the_head_alone(void **state)
{
    struct upload_head head = file_head(10, 0);

    (void)state;
    assert_int_equal(upload_screen(&head, &open_to_all, false).step, UPLOAD_RECEIVE);
    assert_int_equal(upload_screen(&head, &open_to_all, true).status, UPLOAD_LATER);
    assert_int_equal(upload_screen(&query, &open_to_all, true).status, UPLOAD_LATER);
    head.nbytes = 10 * MEGABYTE + 1;
    assert_int_equal(upload_screen(&head, &open_to_all, false).status, UPLOAD_NEVER);
    head.fault = "no";
    head.nbytes = 1;
    assert_int_equal(upload_screen(&head, &open_to_all, false).status, UPLOAD_NEVER);
    head = (struct upload_head){.kind = UPLOAD_UNKNOWN};
    assert_int_equal(upload_screen(&head, &open_to_all, false).status, UPLOAD_LATER);
}

static struct upload_head captured(const char *path)
{
    struct failure failure = {0};
    struct upload_head head;
    struct text body;
    size_t length;

    assert_status(STATUS_OK, file_read(case_arena, path, 65536, &body, &failure));
    assert_true(upload_head_read(body, false, &head, &length));
    return head;
}

static void certificates_of_real_clients_are_valid(void **state)
{
    struct upload_limits limits = {.free_least = 0};
    struct failure failure = {0};
    struct upload_head head = captured("tests/captures/151-upload-00.upload"), forged;

    (void)state;
    assert_status(STATUS_OK, file_read(case_arena, "tests/captures/upload_public", 8192,
                                       &limits.public_key, &failure));
    assert_int_equal(upload_screen(&head, &limits, false).step, UPLOAD_RECEIVE);
    forged = captured("tests/captures/155-upload-01-v8.upload");
    assert_int_equal(upload_screen(&forged, &limits, false).step, UPLOAD_RECEIVE);

    forged = head;
    forged.name[0] = 'k';
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged = head;
    forged.max_nbytes += 1;
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged = head;
    forged.has_max_nbytes = false;
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged = head;
    forged.signature = NO_TEXT;
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged.signature = TEXT("zz not hexadecimal\n.");
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged = head;
    forged.max_nbytes = 1e300;
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    forged = head;
    forged.nbytes = 100000;
    assert_int_equal(upload_screen(&forged, &limits, false).step, UPLOAD_RECEIVE);
    forged.nbytes = 100001;
    assert_int_equal(upload_screen(&forged, &limits, false).status, UPLOAD_NEVER);
    /* Our own fault is no reason to lose work. */
    limits.public_key = NO_TEXT;
    assert_int_equal(upload_screen(&head, &limits, false).status, UPLOAD_LATER);
    limits.public_key = TEXT("1024\n00ff\n.\n");
    assert_int_equal(upload_screen(&head, &limits, false).status, UPLOAD_LATER);
}

static void a_query_is_told_what_is_there(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_decision decision = upload_decide(&query, &open_to_all, &on_disk);

    (void)state;
    assert_int_equal(decision.step, UPLOAD_ANSWER);
    assert_int_equal(decision.status, UPLOAD_DONE);
    assert_i64(decision.file_size, 0);
    /* Never as much as there may be of the whole. */
    on_disk.partial = 1000;
    assert_i64(upload_decide(&query, &open_to_all, &on_disk).file_size, 999);
    on_disk.partial = 0;
    assert_i64(upload_decide(&query, &open_to_all, &on_disk).file_size, 0);
    on_disk.is_under_way = true;
    assert_int_equal(upload_decide(&query, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.finished = INT64_C(3) << 30; /* not cut to 32 bits */
    decision = upload_decide(&query, &open_to_all, &on_disk);
    assert_int_equal(decision.step, UPLOAD_CONFIRM);
    assert_i64(decision.file_size, INT64_C(3) << 30);
    /* The client then sends nothing more, so a full disk matters only to unfinished ones. */
    on_disk.free_bytes = 0;
    assert_int_equal(upload_decide(&query, &open_to_all, &on_disk).step, UPLOAD_CONFIRM);
    on_disk.finished = -1;
    on_disk.is_under_way = false;
    assert_int_equal(upload_decide(&query, &open_to_all, &on_disk).status, UPLOAD_LATER);
}

static void a_finished_file_stays(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_head head = file_head(1000, 0);

    (void)state;
    on_disk.finished = 1000;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_CONFIRM);
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_DONE);
    on_disk.finished = 1001;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_CONFIRM);
    on_disk.finished = 999;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_ANSWER);
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    head.nbytes = 0;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_CONFIRM);
}

static void what_another_handler_left_unfinished_is_continued(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_head head = file_head(1000, 999);

    (void)state;
    on_disk.finished = 999;
    assert_false(upload_decide(&head, &open_to_all, &on_disk).adopts);
    on_disk.is_older = true;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_RECEIVE);
    assert_true(upload_decide(&head, &open_to_all, &on_disk).adopts);
    on_disk.free_bytes = 0;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.free_bytes = 100 * MEGABYTE;
    on_disk.finished = 998; /* a gap */
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.finished = 999;
    head.offset = 998; /* what is there is not written over: it may be finished */
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_ANSWER);
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.finished = 1000;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_CONFIRM);
}

static void an_offset_needs_its_bytes(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_head head = file_head(1000, 500);

    (void)state;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.partial = 499;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.partial = 500;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_RECEIVE);
    on_disk.partial = 900;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_RECEIVE);
    on_disk.is_under_way = true;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_ANSWER);
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
}

static void space_is_kept_free(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_head head = file_head(2 * MEGABYTE, 0);

    (void)state;
    on_disk.free_bytes = 3 * MEGABYTE;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_RECEIVE);
    on_disk.free_bytes -= 1;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    on_disk.partial = MEGABYTE;
    head.offset = MEGABYTE; /* only the rest is still to come */
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).step, UPLOAD_RECEIVE);
    on_disk.free_bytes = -5 * MEGABYTE;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    head.nbytes = INT64_MAX;
    head.offset = 0;
    on_disk.free_bytes = 100 * MEGABYTE;
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
}

static void trouble_is_never_for_good(void **state)
{
    struct upload_on_disk on_disk = nothing_there;
    struct upload_head head = file_head(1, 0);

    (void)state;
    on_disk.trouble = "the disk is gone";
    assert_int_equal(upload_decide(&head, &open_to_all, &on_disk).status, UPLOAD_LATER);
    assert_int_equal(upload_decide(&query, &open_to_all, &on_disk).status, UPLOAD_LATER);
}

/* Of what strangers and cut lines do nobody is warned. */
static void only_our_own_faults_are_warned_of(void **state)
{
    const struct upload_limits checks = {.free_least = 0};
    struct upload_head head = file_head(1000, 500);
    struct upload_on_disk on_disk = nothing_there;

    (void)state;
    assert_true(upload_screen(&head, &checks, false).is_our_fault); /* no key */
    assert_false(upload_screen(&head, &open_to_all, true).is_our_fault);
    head.nbytes = 100 * MEGABYTE;
    assert_false(upload_screen(&head, &open_to_all, false).is_our_fault);
    assert_true(upload_decide(&head, &open_to_all, &on_disk).is_our_fault); /* no space */
    head.nbytes = 1000;
    assert_false(upload_decide(&head, &open_to_all, &on_disk).is_our_fault); /* offset */
    on_disk.is_under_way = true;
    assert_false(upload_decide(&head, &open_to_all, &on_disk).is_our_fault);
    on_disk.trouble = "the disk is gone";
    assert_true(upload_decide(&head, &open_to_all, &on_disk).is_our_fault);
    assert_false(upload_later("the upload ended early").is_our_fault);
}

static void replies_are_what_clients_search_for(void **state)
{
    struct buffer reply = buffer_in(case_arena);
    struct upload_decision decision = upload_later("a < b");

    (void)state;
    upload_write_reply(&decision, &reply);
    assert_text(buffer_text(&reply), "<data_server_reply>\n    <status>1</status>\n"
                                     "    <message>a &lt; b</message>\n</data_server_reply>\n");
    reply = buffer_in(case_arena);
    decision = (struct upload_decision){.status = UPLOAD_DONE, .file_size = INT64_C(5000000000)};
    upload_write_reply(&decision, &reply);
    assert_text(buffer_text(&reply),
                "<data_server_reply>\n    <status>0</status>\n"
                "    <file_size>5000000000</file_size>\n</data_server_reply>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_head_alone),
        cmocka_unit_test_setup_teardown(certificates_of_real_clients_are_valid, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test(a_query_is_told_what_is_there),
        cmocka_unit_test(a_finished_file_stays),
        cmocka_unit_test(what_another_handler_left_unfinished_is_continued),
        cmocka_unit_test(an_offset_needs_its_bytes),
        cmocka_unit_test(space_is_kept_free),
        cmocka_unit_test(trouble_is_never_for_good),
        cmocka_unit_test(only_our_own_faults_are_warned_of),
        cmocka_unit_test_setup_teardown(replies_are_what_clients_search_for, case_arena_setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
