// SPDX-License-Identifier: MIT
// What a program calls of the C library and of C++'s does what it does without --time-host, and takes
// simulated time: what it reads and writes by the line, in as many cycles as a core needs for that, and the
// rest as its tables say.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

static constexpr double GHZ = 3.7;
static constexpr size_t BYTES = 16384, LINES = BYTES / 64; // the first cache holds two of them
static constexpr int TIMES = 200;
static bool timing, failed;
static char one[BYTES + 1], two[BYTES + 1];
static volatile size_t sink;
static volatile double real_sink;

static void check(bool holds, const char *what, double value = 0)
{
    if (!holds)
        std::printf("%s: %g\n", what, value);
    failed |= !holds;
}

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec)) * GHZ;
}

// Cycles of a call, the second time.
template <typename call> static double cycles(const call &what)
{
    double begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = now();
        for (int i = 0; i < TIMES; i++)
            what(i);
    }
    return (now() - begin) / TIMES;
}

static void takes(const char *what, double value, double least, double most)
{
    if (timing)
        check(value >= least && value <= most, what, value);
}

static void strings()
{
    std::memset(one, 'x', BYTES);
    std::memset(two, 'x', BYTES);
    check(memcmp(one, two, BYTES) == 0 && strcmp(one, two) == 0 && strchr(one, 'y') == nullptr, "strings");
    // Each line of both is read in half of what a line's two vectors take, and written in as long.
    const double more = 60;
    takes("memcmp", cycles([](int) { sink = memcmp(one, two, BYTES); }), 2 * LINES, 2 * LINES + more);
    takes("strcmp", cycles([](int) { sink = strcmp(one, two); }), 2 * LINES, 2 * LINES + more);
    takes("memchr", cycles([](int i) { sink = memchr(one, i | 0x80, BYTES) != nullptr; }), LINES,
          LINES + more);
    takes("strchr", cycles([](int) { sink = strchr(one, 'y') != nullptr; }), LINES, LINES + more);
    takes("strcpy", cycles([](int) { strcpy(one, two); }), 2 * LINES, 2 * LINES + more);
    takes("memcpy", cycles([](int) { memcpy(one, two, BYTES); }), 2 * LINES, 2 * LINES + more);
    takes("memset", cycles([](int) { memset(one, 'x', BYTES); }), 2 * LINES, 2 * LINES + more);
    two[70] = 'y'; // in the second line
    takes("memcmp of two lines", cycles([](int) { sink = memcmp(one, two, BYTES); }), 10, more);
    takes("strcmp of two lines", cycles([](int) { sink = strcmp(one, two); }), 10, more);
    check(strchr(two, 'y') == two + 70 && memchr(two, 'y', 71) == two + 70 &&
              memrchr(two, 'y', BYTES) == two + 70 && strstr(two, "yx") == two + 70 &&
              strncmp(one, two, 70) == 0 && strncmp(one, two, 71) < 0,
          "where they differ");
    char text[16];
    check(strcmp(strcat(strcpy(text, "ab"), "cd"), "abcd") == 0 && *stpcpy(text, "e") == 0 &&
              strnlen(text, 9) == 1 && strcmp(strncat(text, "fgh", 2), "efg") == 0 &&
              strcmp(strncpy(text, "ijk", 4), "ijk") == 0,
          "copies");
}

// What compares as equal stays in its order.
template <size_t MORE> struct element {
    int key, place;
    char more[MORE];
};
template <typename type> static int compare(const void *a, const void *b)
{
    return static_cast<const type *>(a)->key - static_cast<const type *>(b)->key;
}
template <typename type> static int compare_to(const void *a, const void *b, void *sign)
{
    return *static_cast<int *>(sign) * compare<type>(a, b);
}

template <typename type> static double sorts(size_t n, unsigned keys)
{
    std::vector<type> v(n);
    uint32_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        v[i].key = static_cast<int>((state >> 8) % keys);
        v[i].place = static_cast<int>(i);
    }
    auto up = v, down = v;
    int sign = -1;
    const double begin = now();
    qsort(up.data(), n, sizeof(type), compare<type>);
    const double took = now() - begin;
    qsort_r(down.data(), n, sizeof(type), compare_to<type>, &sign);
    std::sort(v.begin(), v.end(), [](const type &a, const type &b) {
        return a.key != b.key ? a.key < b.key : a.place < b.place;
    });
    for (size_t i = 0; i < n; i++) {
        check(up[i].key == v[i].key && up[i].place == v[i].place, "sorted, in order", static_cast<double>(i));
        check(down[i].key == v[n - 1 - i].key, "sorted downwards", static_cast<double>(i));
    }
    return took;
}

static void sorting()
{
    for (size_t n : {0, 1, 2, 3, 100}) {
        sorts<element<1>>(n, 10);
        sorts<element<50>>(n, 10);
    }
    const double n = 4096, levels = 12, at_random = sorts<element<1>>(4096, 1U << 30),
                 sorted = sorts<element<1>>(4096, 1);
    // A comparison, a call of it and a move on each level; every other branch goes where it was not foreseen
    // to go.
    takes("qsort at random", at_random / n / levels, 10, 40);
    takes("qsort, sorted", sorted / n / levels, 4, 18);
    takes("wrong ways of qsort", (at_random - sorted) / n / levels, 4, 13);
    sorts<element<50>>(4096, 1U << 30);
    std::vector<int> v(1000);
    for (int i = 0; i < 1000; i++)
        v[static_cast<size_t>(i)] = 2 * i;
    const auto order = [](const void *a, const void *b) {
        return *static_cast<const int *>(a) - *static_cast<const int *>(b);
    };
    for (int key = -1; key < 2001; key++) {
        const auto *found = static_cast<const int *>(bsearch(&key, v.data(), v.size(), sizeof(int), order));
        check(found ? *found == key : key < 0 || key % 2 || key >= 2000, "bsearch", key);
    }
}

static void others()
{
    takes("sin", cycles([](int i) { real_sink = sin(i * 0.01); }), 30, 50);
    takes("pow", cycles([](int i) { real_sink = pow(1.1, i * 0.01); }), 40, 60);
    takes("expf", cycles([](int i) { real_sink = expf(static_cast<float>(i) * 0.01F); }), 10, 30);
    char text[64];
    const double none = cycles(
                     [&](int) { sink = static_cast<size_t>(snprintf(text, sizeof text, "none%c", '\n')); }),
                 two_more = cycles([&](int i) {
                     sink = static_cast<size_t>(snprintf(text, sizeof text, "%c%d%f", 'c', i, i * 1.5));
                 });
    takes("snprintf", none, 100, 250);
    takes("snprintf of two more", two_more - none, 350, 480);
    std::map<int, int> map;
    for (int i = 0; i < 1000; i++)
        map[i * 7919 % 1009] = i;
    const double step = cycles([&](int) {
                            size_t sum = 0;
                            for (const auto &pair : map)
                                sum += static_cast<size_t>(pair.first);
                            sink = sum;
                        }) /
                        1000;
    takes("a map's step", step, 8, 60);
    while (map.size() > 10)
        map.erase(std::next(map.begin(), static_cast<long>(map.size() / 2)));
    check(std::prev(map.end())->first == 1008, "a map's last");
}

static void memory()
{
    static void *block[TIMES];
    takes("malloc", cycles([](int i) {
              free(block[i]);
              block[i] = malloc(32);
          }),
          (14 + 7) * GHZ - 1, (14 + 7) * GHZ + 10);
    takes("calloc", cycles([](int i) {
                        free(block[i]);
                        block[i] = calloc(16, 64);
                    }) - (14 + 7) * GHZ,
          16 * 2, 16 * 2 + 80);
    for (auto &b : block)
        free(b);
    double begin = now();
    void *large = malloc(size_t{1} << 30);
    takes("malloc of 1 GiB, ns", (now() - begin) / GHZ, 5000, 7000);
    begin = now();
    free(large);
    takes("free of it, ns", (now() - begin) / GHZ, 24000, 54000);
    char *grows = static_cast<char *>(malloc(10));
    strcpy(grows, "kept");
    for (size_t bytes = 20; bytes < 1 << 20; bytes *= 2)
        grows = static_cast<char *>(realloc(grows, bytes));
    check(strcmp(grows, "kept") == 0, "realloc");
    free(grows);
}

int main(int argc, char **)
{
    timing = argc > 1;
    const double begin = now(); // its stack's page is there
    real_sink = begin;
    strings();
    sorting();
    others();
    memory();
    if (timing)
        std::printf("memcmp %.1f cycles, all %.0f\n", cycles([](int) { sink = memcmp(one, two, BYTES); }),
                    now() - begin);
    return failed;
}
