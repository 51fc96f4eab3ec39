/* SPDX-License-Identifier: MIT */
/*
 * A chip is a data file: chips/NAME.cfg, in libconfig's format.  Every number
 * stands with where it is from:
 *
 *     base = "cdna3";                     # read first; this file overrides
 *     xcd: { count = (6, "documented: ISCA'24, IV.B"); };
 *
 * Nothing else in the library knows a product's name.
 */
#ifndef EHP_SOC_CHIP_H
#define EHP_SOC_CHIP_H

#include <stdbool.h>
#include <stddef.h>

enum chip_key {
#define TEXT(group, name, help)
#define KEY(group, name, unit, least, most, help) CHIP_##group##_##name,
#include "soc/chip.def"
#undef KEY
    CHIP_KEYS,
#define KEY(group, name, unit, least, most, help)
#undef TEXT
#define TEXT(group, name, help) CHIP_TEXT_##group##_##name,
    CHIP_TEXT_BASE_ = CHIP_KEYS - 1,
#include "soc/chip.def"
#undef KEY
#undef TEXT
    CHIP_ALL
};

enum { CHIP_MAX_PARTITIONS = 8, CHIP_MAX_IODS = 16 };

struct chip {
    char name[32]; /* the file's */
    double value[CHIP_KEYS];
    char *text[CHIP_ALL];   /* strings, by key */
    char *source[CHIP_ALL]; /* where each is from */
    char *file[CHIP_ALL];   /* and stands */
    unsigned line[CHIP_ALL];
    struct {
        char name[8];
        unsigned count; /* devices that the package becomes */
    } partition[CHIP_MAX_PARTITIONS];
    unsigned partitions, iods;
    struct {
        unsigned xcds, ccds, hbm_stacks;
        bool mirrored;
    } iod[CHIP_MAX_IODS];
};

/* Reads a chip by name (from the chip directory) or by path; on failure returns an ehp_status and one line in
 * error. */
int chip_load(const char *name_or_path, struct chip *chip, char *error, size_t bytes);
void chip_free(struct chip *chip);

/* For checks of numbers against each other: writes where the key stands, its value and what is wrong. */
__attribute__((format(printf, 5, 6))) void chip_mistake(const struct chip *chip, unsigned key, char *error,
                                                        size_t bytes, const char *format, ...);

static inline unsigned chip_get(const struct chip *chip, enum chip_key key)
{
    return (unsigned)chip->value[key];
}

/* "xcd.count", its unit and help; for i in 0 .. CHIP_ALL - 1. */
const char *chip_key_name(unsigned i);
const char *chip_key_unit(unsigned i);
const char *chip_key_help(unsigned i);

/* Writes the chip directory: $EHP_CHIPS, beside the library's build or installation. */
bool chip_directory(char *path, size_t bytes);

#endif
