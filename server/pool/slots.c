/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the pool's items: blocks that never move, so that growing costs no copy while the lock
 * is held. Slot 0 stays empty: it means none. */
#include "server/pool/pool_internal.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static bool grow(struct slots *slots)
{
    size_t wanted = slots->end / BLOCK_ITEMS + 1;
    char **blocks;

    if (slots->end == UINT32_MAX)
        return false;
    if (wanted <= slots->block_count)
        return true;
    if ((slots->block_count & (slots->block_count - 1)) == 0) { /* 0 or a power of two: full */
        size_t capacity = slots->block_count == 0 ? 1 : slots->block_count * 2;

        blocks = realloc(slots->blocks, capacity * sizeof(blocks[0]));
        if (blocks == NULL)
            return false;
        slots->blocks = blocks;
    }
    slots->blocks[slots->block_count] = malloc(slots->size * BLOCK_ITEMS);
    if (slots->blocks[slots->block_count] == NULL)
        return false;
    slots->block_count++;
    return true;
}

slot slots_take(struct slots *slots)
{
    slot number = slots->free;

    if (number != 0) {
        memcpy(&slots->free, slot_item(slots, number), sizeof(slots->free));
    } else {
        if (slots->end == 0)
            slots->end = 1;
        if (!grow(slots))
            return 0;
        number = slots->end++;
    }
    memset(slot_item(slots, number), 0, slots->size);
    slots->live++;
    return number;
}

void slots_give(struct slots *slots, slot number)
{
    void *item = slot_item(slots, number);

    memset(item, 0, slots->size);
    memcpy(item, &slots->free, sizeof(slots->free));
    slots->free = number;
    slots->live--;
}

void slots_clear(struct slots *slots)
{
    for (size_t i = 0; i < slots->block_count; i++)
        free(slots->blocks[i]);
    free(slots->blocks);
    *slots = (struct slots){.size = slots->size};
}
