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
#ifndef EHP_CHIP_CHIP_H
#define EHP_CHIP_CHIP_H

#include <stdbool.h>
#include <stddef.h>

enum chip_key {
#define TEXT(group, name, help)
#define KEY(group, name, unit, least, most, help) CHIP_##group##_##name,
#include "chip/chip.def"
#undef KEY
    CHIP_KEYS,
#define KEY(group, name, unit, least, most, help)
#undef TEXT
#define TEXT(group, name, help) CHIP_TEXT_##group##_##name,
    CHIP_TEXT_BASE_ = CHIP_KEYS - 1,
#include "chip/chip.def"
#undef KEY
#undef TEXT
    CHIP_ALL
};

/* What our data structures have room for: the ends of ranges in chip.def, or of the rooms' checks. */
enum {
    CHIP_MAX_PARTITIONS = 8,
    CHIP_MAX_IODS = 16,
    CHIP_MAX_LINKS = 64, /* between them */
    CHIP_MAX_XCDS = 15,
    CHIP_MAX_CCDS = 15,
    CHIP_MAX_DIES = 15, /* XCDs and CCDs: bits of the probe filter, beside the owner's */
    CHIP_MAX_CCD_CORES = 16,
    CHIP_MAX_SDMA = 16,
    CHIP_MAX_SHADER_ENGINES = 16,
    CHIP_MAX_ACES = 16,
    CHIP_MAX_SIMDS = 8,
    CHIP_MAX_SIMD_WAVES = 16,
    CHIP_MAX_CU_WAVES = 64,
    CHIP_MAX_WORKGROUP_ITEMS = 1024,
    CHIP_MAX_LDS_BANKS = 64,
    CHIP_MAX_FETCHING = 16,
    CHIP_MAX_CHUNK = 262144,  /* contiguous frames of memory on demand, in bytes */
    CHIP_MAX_CACHE_WAYS = 16, /* of the Infinity Cache */
    CHIP_MAX_STREAMS = 64,
    CHIP_MAX_STACKS = 64,
    CHIP_MAX_CHANNELS = 256, /* of a memory partition */
    CHIP_MAX_BANKS = 64,     /* of a pseudo channel */
    CHIP_MAX_BANK_GROUPS = 8
};

/* One that stands in a list: its own, or a key's. */
struct chip_number {
    unsigned key; /* CHIP_KEYS: it is its own, */
    char *source; /* from here */
    double value;
};

struct chip {
    char name[32]; /* the file's */
    char *path;    /* and its own, as its keys' `file`; others are of its bases */
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
    unsigned partitions_line, iods_line; /* in the chip's own file; 0: they are a base's */
    struct {
        unsigned xcds, ccds, hbm_stacks;
        bool mirrored;
        unsigned line;
    } iod[CHIP_MAX_IODS];
    /* Between IODs: GB/s each way, and ns one way. */
    unsigned links, links_line;
    char *links_file; /* whose they are */
    struct chip_link {
        unsigned iod[2];
        struct chip_number rate, latency;
        unsigned line;
    } link[CHIP_MAX_LINKS];
};

/* Reads a chip by name (from the chip directory) or by path; on failure returns an ehp_status and one line in
 * error. */
int chip_load(const char *name_or_path, struct chip *chip, char *error, size_t bytes);
void chip_free(struct chip *chip);

/* For checks of numbers against each other: writes where the key stands, its value and what is wrong. */
__attribute__((format(printf, 5, 6))) void chip_mistake(const struct chip *chip, unsigned key, char *error,
                                                        size_t bytes, const char *format, ...);

/*
 * For checks of keys that do not go together, of which the rule is the first one's ("must be ..."): writes
 * the mistake at the first that the chip's own file sets.
 */
struct chip_keys {
    unsigned key[7]; /* up to CHIP_ALL */
};
#define CHIP_CLASH(...) ((struct chip_keys){{__VA_ARGS__, CHIP_ALL}})
void chip_clash(const struct chip *chip, const struct chip_keys *clash, char *error, size_t bytes,
                const char *rule);

static inline unsigned chip_get(const struct chip *chip, enum chip_key key)
{
    return (unsigned)chip->value[key];
}

/*
 * Where an active CU of an XCD lies: in which shader engine, and as which of its CUs on the silicon.  Those
 * that are not active are the last ones of the last engines, one of each before two of any: an MI300A has 240
 * and 228 of them are active, but 120 scalar caches, each of a pair (rocprofiler-compute, sysinfo.csv).
 */
struct chip_place {
    unsigned engine, index;
    unsigned number; /* on the silicon of the XCD */
};

static inline struct chip_place chip_cu_place(const struct chip *chip, unsigned cu)
{
    const unsigned engines = chip_get(chip, CHIP_xcd_shader_engines), cus = chip_get(chip, CHIP_xcd_cus);
    const unsigned few = cus / engines,
                   full = cus % engines * (few + 1); /* CUs of engines that have one more */
    const unsigned silicon = (chip_get(chip, CHIP_xcd_cus_physical) + engines - 1) / engines;
    struct chip_place p;
    if (cu < full)
        p = (struct chip_place){.engine = cu / (few + 1), .index = cu % (few + 1)};
    else
        p = (struct chip_place){.engine = cus % engines + (cu - full) / few, .index = (cu - full) % few};
    p.number = p.engine * silicon + p.index;
    return p;
}

/* "xcd.count", its unit and help; for i in 0 .. CHIP_ALL - 1. */
const char *chip_key_name(unsigned i);
const char *chip_key_unit(unsigned i);
const char *chip_key_help(unsigned i);

/* Writes the chip directory: $EHP_CHIPS, beside the library's build or installation. */
bool chip_directory(char *path, size_t bytes);

#endif
