/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes chip files, and machines that are opened of those that are accepted, in both modes.
 *
 * An input that begins with a letter or a space is the file.  Others are made one: after the first byte,
 * which picks the chip to begin with, three bytes each are a key and what becomes of its value.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chip/chip.h"
#include "ehp/ehp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A value of a key that is odd, or in the range of the key. */
static void write_value(FILE *out, unsigned kind)
{
    static const char *const odd[] = {
        "0",          "1",      "-1",         "2",          "3",
        "7",          "1e308",  "1.5",        "4294967296", "9223372036854775807",
        "\"a text\"", "[1, 2]", "0x7fffffff", "63",         "64",
        "65",         "(1)",    "true",       "1e-9",       "1000000"};
    if (kind < 128)
        fputs(odd[kind % (sizeof odd / sizeof odd[0])], out);
    else
        fprintf(out, "%u", 1u << (kind - 128) % 31);
}

static void write_file(FILE *out, const uint8_t *data, size_t bytes)
{
    static const char *const bases[] = {"mi300a", "mi300x", "cdna3", "nothing"};
    if (!bytes || data[0] >= ' ' || data[0] == '\n') {
        fwrite(data, 1, bytes, out);
        return;
    }
    fprintf(out, "base = \"%s\";\n", bases[data[0] % 4]);
    const char *group = "";
    for (unsigned key = 0; key < CHIP_ALL; key++) { /* keys of a group stand together */
        const char *name = chip_key_name(key), *dot = strchr(name, '.');
        size_t at = 1;
        while (at + 3 <= bytes && (data[at] | (unsigned)data[at + 1] << 8) % CHIP_ALL != key)
            at += 3;
        if (at + 3 > bytes)
            continue;
        if (strncmp(group, name, (size_t)(dot - name) + 1) != 0)
            fprintf(out, "%s%.*s: {\n", *group ? "};\n" : "", (int)(dot - name), name);
        group = name;
        fprintf(out, "    %s = (", dot + 1);
        write_value(out, data[at + 2]);
        fprintf(out, ", \"guess: none\");\n");
    }
    fputs(*group ? "};\n" : "", out);
}

static void open_machine(const char *path, bool timing)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    struct ehp_agent_info info = {.size = sizeof info};
    ehp_machine *machine;
    options.chip = path;
    options.threads = 1;
    options.timing = timing;
    if (ehp_open(&options, &machine) != EHP_OK) {
        if (!options.error[0] || !memchr(options.error, 0, sizeof options.error))
            abort();
        return;
    }
    for (unsigned i = 0; i < ehp_agent_count(machine); i++)
        if (ehp_agent_info(machine, i, &info) != EHP_OK)
            abort();
    ehp_close(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64], error[256] = "";
    struct chip chip;
    int fd = memfd_create("chip", 0);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out)
        abort();
    write_file(out, data, bytes);
    fflush(out);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int status = chip_load(path, &chip, error, sizeof error);
    if (status == EHP_OK) {
        chip_free(&chip);
        open_machine(path, false);
        open_machine(path, true);
    } else if (!error[0] || !memchr(error, 0, sizeof error) || strchr(error, '\n')) {
        abort();
    }
    fclose(out);
    return 0;
}
