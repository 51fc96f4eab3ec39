/* SPDX-License-Identifier: MIT */
/* What a core foresees of its branches. */
#include <stdlib.h>

#include "ccd/branch.h"
#include "check.h"

enum { N = 8000, LAST = 2000 };

static uint32_t random_bit(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 60 & 1);
}

/* How many of the last are wrong, of one branch whose way is `is(i)` and of one in between that goes at
 * random or as the first did. */
enum between { ALONE, RANDOM, FOLLOWS };
static unsigned wrong_of(uint32_t (*is)(unsigned i), enum between between, bool jump)
{
    struct branches *b = calloc(1, sizeof(*b));
    uint64_t state = 1;
    unsigned wrong = 0;
    for (unsigned i = 0; b && i < N; i++) {
        const uint32_t way = is(i), target = 100 + way;
        const bool right = branches_take(b, 1, target, jump, way);
        bool second = true;
        if (between != ALONE)
            second = branches_take(b, 2, 200 + (between == FOLLOWS ? way : random_bit(&state)), false, 0);
        wrong += i >= N - LAST && !(between == FOLLOWS ? second : right);
    }
    free(b);
    return wrong;
}

static uint32_t one(unsigned i)
{
    (void)i;
    return 1;
}

static uint32_t every_other(unsigned i)
{
    return i & 1;
}

static uint32_t of_ten(unsigned i)
{
    return i % 10 == 9;
}

/* Longer than the longest way that a table knows. */
static uint32_t of_hundred(unsigned i)
{
    return i % 100 == 99;
}

static uint32_t at_random(unsigned i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 63);
}

static uint32_t of_five(unsigned i)
{
    static const uint8_t order[] = {0, 3, 1, 4, 3, 2};
    return order[i % sizeof(order)];
}

static void test_patterns(void)
{
    CHECK_EQ(wrong_of(one, ALONE, false), 0);
    CHECK_EQ(wrong_of(every_other, ALONE, false), 0);
    CHECK_EQ(wrong_of(of_ten, ALONE, false), 0);
    CHECK_EQ(wrong_of(of_hundred, ALONE, false), LAST / 100);
    CHECK_EQ(wrong_of(of_five, ALONE, true), 0);
    const unsigned wrong = wrong_of(at_random, ALONE, false);
    CHECK(wrong > LAST * 2 / 5 && wrong < LAST * 3 / 5);
}

/* One that goes as another went before is foreseen, and noise in between costs little. */
static void test_correlation(void)
{
    CHECK(wrong_of(at_random, FOLLOWS, false) < LAST / 100);
    CHECK(wrong_of(every_other, RANDOM, false) < LAST / 20);
    CHECK_EQ(wrong_of(one, RANDOM, false), 0);
}

/* More branches than the table has places for: one that is not known is taken for foreseen, and learnt anew.
 */
static void test_places(void)
{
    struct branches *b = calloc(1, sizeof(*b));
    for (unsigned pass = 0; b && pass < 4; pass++)
        for (uint32_t i = 1; i <= 2 * BRANCH_KNOWN; i++)
            CHECK(branches_take(b, i, pass, false, 0));
    for (unsigned pass = 0; b && pass < 2; pass++)
        for (uint32_t i = 1; i <= BRANCH_KNOWN / 2; i++)
            CHECK_EQ(branches_take(b, i, 50 + pass, false, 0), pass == 0);
    free(b);
}

int main(void)
{
    test_patterns();
    test_correlation();
    test_places();
    return check_status();
}
