/* SPDX-License-Identifier: MIT */
/* Frames: no two owners, runs in one piece, chunks apart, all of memory can be had and given back. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "vm/frames.h"

enum { BYTES = 256 << 20, FRAMES = BYTES >> FRAME_SHIFT };

static void own(uint8_t *owner, uint64_t first, uint64_t count, uint8_t value)
{
    for (uint64_t i = first; i < first + count; i++) {
        CHECK(i < FRAMES && (owner[i] != 0) != (value != 0));
        owner[i] = value;
    }
}

/* Each has its own, and those of the next when it is full. */
static void test_domains(void)
{
    enum { DOMAINS = 4, EACH = FRAMES / DOMAINS };
    struct frames f;
    CHECK(frames_open(&f, BYTES, BYTES / DOMAINS));
    for (unsigned d = 0; d < DOMAINS; d++) {
        uint64_t count, run = frames_take_run(&f, d, SECTION, &count),
                        part = frames_take_run(&f, d, 3, &count), chunk = frames_take_chunk(&f, d, 2);
        CHECK(run / EACH == d && run % EACH < EACH / 2);
        CHECK(part / EACH == d && part % EACH < EACH / 2);
        CHECK(chunk / EACH == d && chunk % EACH >= EACH / 2);
    }
    uint64_t count, taken = 0;
    for (;;) {
        uint64_t first = frames_take_run(&f, 3, SECTION, &count);
        if (first / EACH != 3) {
            CHECK(first < EACH);
            break;
        }
        taken += count;
    }
    CHECK_EQ(taken, EACH - SECTION - 3 - 4);
    frames_close(&f);
}

int main(void)
{
    test_domains();
    struct frames f;
    static uint8_t owner[FRAMES];
    CHECK(frames_open(&f, BYTES, BYTES));
    CHECK_EQ(f.free, FRAMES);

    uint64_t count, first = frames_take_run(&f, 0, 5 * SECTION, &count); /* 10 MiB */
    CHECK_EQ(count, 5 * SECTION);
    CHECK_EQ(first % SECTION, 0);
    own(owner, first, count, 1);
    uint64_t small = frames_take_run(&f, 0, 20, &count);
    CHECK_EQ(count, 20);
    CHECK_EQ(small % 16, 0); /* aligned as far as it is a power of two */
    own(owner, small, count, 1);

    /* Chunks lie apart, and in the other half. */
    uint64_t last = 0, chunks[64];
    for (unsigned i = 0; i < 64; i++) {
        chunks[i] = frames_take_chunk(&f, 0, 3);
        CHECK_EQ(chunks[i] % 8, 0);
        CHECK(chunks[i] >= FRAMES / 2 && chunks[i] != last + 8);
        own(owner, chunks[i], 8, 1);
        last = chunks[i];
    }
    frames_give(&f, chunks[5], 8);
    own(owner, chunks[5], 8, 0);
    uint64_t next = frames_take_chunk(&f, 0, 3);
    CHECK(next != chunks[5]); /* not at once */
    own(owner, next, 8, 1);

    /* To the last frame, by runs into the chunks' half and chunks into what is left. */
    while ((first = frames_take_run(&f, 0, 2 * SECTION, &count)) != UINT64_MAX && count >= SECTION)
        own(owner, first, count, 1);
    if (first != UINT64_MAX)
        own(owner, first, count, 1);
    while ((first = frames_take_chunk(&f, 0, 0)) != UINT64_MAX)
        own(owner, first, 1, 1);
    CHECK_EQ(f.free, 0);
    CHECK(memchr(owner, 0, FRAMES) == NULL);
    CHECK(frames_take_run(&f, 0, 1, &count) == UINT64_MAX);
    frames_give(&f, 0, FRAMES);
    CHECK_EQ(f.free, FRAMES);
    CHECK(frames_take_chunk(&f, 0, CHUNK_MAX_ORDER) != UINT64_MAX);
    frames_close(&f);
    return check_status();
}
