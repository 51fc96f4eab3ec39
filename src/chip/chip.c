/* SPDX-License-Identifier: MIT */
/* Reading chip files; see chip.h. */
#include "chip/chip.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/distance.h"
#include "chip/files.h"
#include "chip/internal.h"
#include "ehp/ehp.h"

static const struct {
    const char *name, *unit, *help;
    double least, most;
} keys[CHIP_ALL] = {
#define TEXT(group, name, help)
#define KEY(group, name, unit, least, most, help)                                                            \
    [CHIP_##group##_##name] = {#group "." #name, unit, help, least, most},
#include "chip/chip.def"
#undef KEY
#undef TEXT
#define KEY(group, name, unit, least, most, help)
#define TEXT(group, name, help) [CHIP_TEXT_##group##_##name] = {#group "." #name, "", help, 0, 0},
#include "chip/chip.def"
#undef KEY
#undef TEXT
};

const char *chip_key_name(unsigned i)
{
    return keys[i].name;
}

const char *chip_key_unit(unsigned i)
{
    return keys[i].unit;
}

const char *chip_key_help(unsigned i)
{
    return keys[i].help;
}

bool chip_directory(char *path, size_t bytes)
{
    const char *chosen = secure_getenv("EHP_CHIPS");
    if (chosen && *chosen) {
        snprintf(path, bytes, "%s", chosen);
        return access(path, R_OK) == 0;
    }
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&chip_directory, &info) && info.dli_fname) {
        char library[1024];
        if (!realpath(info.dli_fname, library))
            return false;
        char *slash = strrchr(library, '/');
        if (slash)
            *slash = '\0';
        /* Installed: lib/<libehp>, or bin/<tool that links it statically>; in a build tree: build/ or
         * build/<room>/. */
        static const char *const places[] = {"../share/ehp/chips", "../../share/ehp/chips", "../chips",
                                             "../../chips"};
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            const int n = snprintf(path, bytes, "%s/%s", library, places[i]);
            if (n > 0 && (size_t)n < bytes && access(path, R_OK) == 0)
                return true;
        }
    }
    return false;
}

static bool put_text(char **slot, const char *text);

bool chip_put_words(char **slot, const char *text)
{
    char room[512];
    return put_text(slot, ehp_printable(text, room, sizeof(room)));
}

static bool put_text(char **slot, const char *text)
{
    free(*slot);
    *slot = strdup(text);
    return *slot != NULL;
}

static const char *file_of(const config_setting_t *setting, const char *path)
{
    const char *file = config_setting_source_file(setting);
    return file ? file : path;
}

void chip_mistake(const struct chip *chip, unsigned key, char *error, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = snprintf(error, bytes, "%s:%u: %s = %.15g: ", chip->file[key] ? chip->file[key] : chip->name,
                     chip->line[key], keys[key].name, key < CHIP_KEYS ? chip->value[key] : 0);
    if (n >= 0 && (size_t)n < bytes)
        vsnprintf(error + n, bytes - (size_t)n, format, arguments);
    va_end(arguments);
}

static bool is_own(const struct chip *chip, unsigned key)
{
    return chip->file[key] && !strcmp(chip->file[key], chip->path);
}

void chip_clash(const struct chip *chip, const struct chip_keys *clash, char *error, size_t bytes,
                const char *rule)
{
    const unsigned first = clash->key[0], *at = clash->key;
    while (*at != CHIP_ALL && !is_own(chip, *at))
        at++;
    if (*at == CHIP_ALL || *at == first)
        chip_mistake(chip, first, error, bytes, "%s", rule);
    else
        chip_mistake(chip, *at, error, bytes, "%s = %.15g %s", keys[first].name, chip->value[first], rule);
}

int chip_wrong(const config_setting_t *setting, const char *path, char *error, size_t bytes,
               const char *format, ...)
{
    char text[512], room[512];
    va_list arguments;
    va_start(arguments, format);
    int n =
        snprintf(text, sizeof(text), "%s:%u: ", file_of(setting, path), config_setting_source_line(setting));
    if (n >= 0 && (size_t)n < sizeof(text))
        vsnprintf(text + n, sizeof(text) - (size_t)n, format, arguments);
    va_end(arguments);
    snprintf(error, bytes, "%s", ehp_printable(text, room, sizeof(room)));
    return EHP_ERR_BAD_CHIP;
}

bool chip_is_source(const char *source)
{
    static const char *const kinds[] = {"documented", "measured", "guess"};
    const size_t n = strcspn(source, ":");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (n == strlen(kinds[i]) && !strncmp(source, kinds[i], n))
            return true;
    return false;
}

bool chip_number(const config_setting_t *setting, double *number)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
        *number = config_setting_get_int(setting);
        return true;
    case CONFIG_TYPE_INT64:
        *number = (double)config_setting_get_int64(setting);
        return true;
    case CONFIG_TYPE_FLOAT:
        *number = config_setting_get_float(setting);
        return true;
    default:
        return false;
    }
}

/* A key's value is the list (value, "source"). */
static int read_key(const config_t *config, const char *path, unsigned i, struct chip *chip, char *error,
                    size_t bytes)
{
    const config_setting_t *s = config_lookup(config, keys[i].name);
    if (!s)
        return EHP_OK;
    const char *name = keys[i].name;
    bool text = i > CHIP_KEYS - 1;
    const config_setting_t *value = config_setting_get_elem(s, 0), *source = config_setting_get_elem(s, 1);
    if (config_setting_type(s) != CONFIG_TYPE_LIST || config_setting_length(s) != 2 ||
        config_setting_type(source) != CONFIG_TYPE_STRING)
        return chip_wrong(s, path, error, bytes,
                          "%s must be (value, \"source\"), as %s = (%s, \"guess: why\")", name,
                          strchr(name, '.') + 1, text ? "\"...\"" : "1");
    if (!chip_is_source(config_setting_get_string(source)))
        return chip_wrong(s, path, error, bytes,
                          "%s: the source \"%s\" must be documented, measured or guess, as \"guess: why\"",
                          name, config_setting_get_string(source));
    if (text) {
        if (config_setting_type(value) != CONFIG_TYPE_STRING)
            return chip_wrong(s, path, error, bytes, "%s (%s) must be a string", name, keys[i].help);
        if (!chip_put_words(&chip->text[i], config_setting_get_string(value)))
            return EHP_ERR_NO_MEMORY;
    } else {
        double number;
        if (!chip_number(value, &number))
            return chip_wrong(s, path, error, bytes, "%s (%s) must be a number, %g .. %g%s%s", name,
                              keys[i].help, keys[i].least, keys[i].most, *keys[i].unit ? " " : "",
                              keys[i].unit);
        if (!(number >= keys[i].least && number <= keys[i].most))
            return chip_wrong(s, path, error, bytes, "%s = %g is outside of %g .. %g%s%s (%s)", name, number,
                              keys[i].least, keys[i].most, *keys[i].unit ? " " : "", keys[i].unit,
                              keys[i].help);
        if ((!*keys[i].unit || !strcmp(keys[i].unit, "B")) && number != floor(number))
            return chip_wrong(s, path, error, bytes, "%s = %g (%s) must be a whole number", name, number,
                              keys[i].help);
        chip->value[i] = number;
    }
    chip->line[i] = config_setting_source_line(s);
    return chip_put_words(&chip->source[i], config_setting_get_string(source)) &&
                   put_text(&chip->file[i], file_of(s, path))
               ? EHP_OK
               : EHP_ERR_NO_MEMORY;
}

static const char *nearest(const char *name)
{
    const char *best = "";
    unsigned least = UINT32_MAX;
    for (unsigned i = 0; i < CHIP_ALL; i++) {
        unsigned d = keys[i].name ? word_distance(name, keys[i].name) : UINT32_MAX;
        if (d < least) {
            least = d;
            best = keys[i].name;
        }
    }
    return best;
}

/* A misspelt key must not pass silently. */
static int reject_unknown(const config_t *config, const char *path, char *error, size_t bytes)
{
    const config_setting_t *root = config_root_setting(config);
    for (int g = 0; g < config_setting_length(root); g++) {
        const config_setting_t *group = config_setting_get_elem(root, (unsigned)g);
        const char *name = config_setting_name(group);
        if (!strcmp(name, "base") || !strcmp(name, "partitions") || !strcmp(name, "iods") ||
            !strcmp(name, "links"))
            continue;
        if (config_setting_type(group) != CONFIG_TYPE_GROUP)
            return chip_wrong(group, path, error, bytes,
                              "%s is no group of keys, as %s: { ... }, nor base, iods, links or partitions",
                              name, name);
        for (int k = 0; k < config_setting_length(group); k++) {
            const config_setting_t *s = config_setting_get_elem(group, (unsigned)k);
            char full[96];
            snprintf(full, sizeof(full), "%s.%s", name, config_setting_name(s));
            bool known = false;
            for (unsigned i = 0; i < CHIP_ALL && !known; i++)
                known = keys[i].name && !strcmp(keys[i].name, full);
            if (!known)
                return chip_wrong(s, path, error, bytes,
                                  "unknown key %s; near it is %s (`ehp chips keys` lists all)", full,
                                  nearest(full));
        }
    }
    return EHP_OK;
}

static int read_partitions(const config_t *config, struct chip *chip, const char *path, char *error,
                           size_t bytes)
{
    const config_setting_t *list = config_lookup(config, "partitions");
    if (!list)
        return EHP_OK;
    chip->partitions = 0;
    chip->partitions_line = strcmp(path, chip->path) ? 0 : config_setting_source_line(list);
    if (config_setting_length(list) > CHIP_MAX_PARTITIONS)
        return chip_wrong(list, path, error, bytes, "partitions are no more than %d", CHIP_MAX_PARTITIONS);
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *p = config_setting_get_elem(list, (unsigned)i);
        const char *name = config_setting_get_string_elem(p, 0);
        int count = config_setting_get_int_elem(p, 1);
        if (!name || count < 1 || count > CHIP_MAX_XCDS)
            return chip_wrong(p, path, error, bytes,
                              "partitions are (\"name\", devices), with 1 .. %d devices, as (\"spx\", 1)",
                              CHIP_MAX_XCDS);
        snprintf(chip->partition[i].name, sizeof(chip->partition[i].name), "%s", name);
        chip->partition[i].count = (unsigned)count;
        chip->partitions++;
    }
    return EHP_OK;
}

/* One field of an IOD; what is not there is 0. */
static int read_iod_field(const config_setting_t *field, struct chip *chip, int i, const char *path,
                          char *error, size_t bytes)
{
    const char *name = config_setting_name(field);
    if (!strcmp(name, "mirrored")) {
        if (config_setting_type(field) != CONFIG_TYPE_BOOL)
            return chip_wrong(field, path, error, bytes, "mirrored of an IOD must be true or false");
        chip->iod[i].mirrored = config_setting_get_bool(field);
        return EHP_OK;
    }
    const char *unit = !strcmp(name, "xcds") ? "XCDs" : !strcmp(name, "ccds") ? "CCDs" : "HBM stacks";
    unsigned *count = !strcmp(name, "xcds")   ? &chip->iod[i].xcds
                      : !strcmp(name, "ccds") ? &chip->iod[i].ccds
                      : !strcmp(name, "hbm")  ? &chip->iod[i].hbm_stacks
                                              : NULL;
    if (!count)
        return chip_wrong(field, path, error, bytes, "an IOD has xcds, ccds, hbm and mirrored, but no %s",
                          name);
    int number = config_setting_get_int(field);
    if (config_setting_type(field) != CONFIG_TYPE_INT || number < 0 || number > 64)
        return chip_wrong(field, path, error, bytes, "%s of an IOD must be a number, 0 .. 64 %s", name, unit);
    *count = (unsigned)number;
    return EHP_OK;
}

static int read_iods(const config_t *config, struct chip *chip, const char *path, char *error, size_t bytes)
{
    const config_setting_t *list = config_lookup(config, "iods");
    if (!list)
        return EHP_OK;
    memset(chip->iod, 0, sizeof(chip->iod));
    chip->iods = (unsigned)config_setting_length(list);
    chip->iods_line = strcmp(path, chip->path) ? 0 : config_setting_source_line(list);
    if (config_setting_type(list) != CONFIG_TYPE_LIST || chip->iods > CHIP_MAX_IODS)
        return chip_wrong(list, path, error, bytes, "iods must be a list of %d { xcds = 2; ... } at most",
                          CHIP_MAX_IODS);
    for (unsigned i = 0; i < chip->iods; i++) {
        const config_setting_t *d = config_setting_get_elem(list, i);
        if (config_setting_type(d) != CONFIG_TYPE_GROUP)
            return chip_wrong(list, path, error, bytes,
                              "each of iods must be { xcds = 2; ccds = 0; hbm = 2; mirrored = false; }");
        chip->iod[i].line = config_setting_source_line(d);
        for (int k = 0; k < config_setting_length(d); k++) {
            int status =
                read_iod_field(config_setting_get_elem(d, (unsigned)k), chip, (int)i, path, error, bytes);
            if (status != EHP_OK)
                return status;
        }
    }
    return EHP_OK;
}

static int load_file(const char *path, struct chip *chip, unsigned depth, char *error, size_t bytes);

static int load_base(const config_t *config, const char *base_path, const char *base, const char *path,
                     struct chip *chip, unsigned depth, char *error, size_t bytes)
{
    if (access(base_path, R_OK) != 0)
        return chip_wrong(config_lookup(config, "base"), path, error, bytes,
                          "base = \"%s\": there is no %s.cfg beside it, nor in the chip directory", base,
                          base);
    return load_file(base_path, chip, depth + 1, error, bytes);
}

static int load_file(const char *path, struct chip *chip, unsigned depth, char *error, size_t bytes)
{
    config_t config;
    config_init(&config);
    int status = EHP_OK;
    if (config_read_file(&config, path) != CONFIG_TRUE) {
        const char *file = config_error_file(&config);
        snprintf(error, bytes, "%s:%d: %s", file ? file : path, config_error_line(&config),
                 config_error_text(&config));
        status = EHP_ERR_BAD_CHIP;
    }
    if (status == EHP_OK && !depth && !config_setting_length(config_root_setting(&config))) {
        char known[FILES_NAMES] = "";
        ehp_chips(files_add_name, known);
        snprintf(error, bytes, "%s: sets nothing; base = \"NAME\"; takes everything from another: %s", path,
                 known);
        status = EHP_ERR_BAD_CHIP;
    }
    const char *base;
    if (status == EHP_OK && config_lookup_string(&config, "base", &base) == CONFIG_TRUE) {
        char base_path[1200];
        const char *slash = strrchr(path, '/');
        snprintf(base_path, sizeof(base_path), "%.*s%s.cfg", slash ? (int)(slash - path + 1) : 0, path, base);
        char directory[1024];
        if (access(base_path, R_OK) != 0 && chip_directory(directory, sizeof(directory)))
            snprintf(base_path, sizeof(base_path), "%s/%s.cfg", directory, base);
        if (depth >= 8) {
            snprintf(error, bytes, "%s: base files include each other", path);
            status = EHP_ERR_BAD_CHIP;
        } else {
            status = load_base(&config, base_path, base, path, chip, depth, error, bytes);
        }
    }
    for (unsigned i = 0; i < CHIP_ALL && status == EHP_OK; i++)
        if (keys[i].name)
            status = read_key(&config, path, i, chip, error, bytes);
    if (status == EHP_OK)
        status = reject_unknown(&config, path, error, bytes);
    if (status == EHP_OK)
        status = read_partitions(&config, chip, path, error, bytes);
    if (status == EHP_OK)
        status = read_iods(&config, chip, path, error, bytes);
    if (status == EHP_OK)
        status = links_read(&config, chip, path, error, bytes);
    config_destroy(&config);
    return status;
}

/* The key after which key `i` could stand: the last of its group in this file; CHIP_ALL: there is none. */
static unsigned group_end(const struct chip *chip, unsigned i, const char *path)
{
    size_t group = strcspn(keys[i].name, ".") + 1;
    unsigned best = CHIP_ALL;
    for (unsigned k = 0; k < CHIP_ALL; k++)
        if (keys[k].name && chip->source[k] && !strncmp(keys[k].name, keys[i].name, group) &&
            !strcmp(chip->file[k], path) && (best == CHIP_ALL || chip->line[k] > chip->line[best]))
            best = k;
    return best;
}

static unsigned line_count(const char *path)
{
    unsigned lines = 0;
    int c, last = '\n';
    FILE *file = fopen(path, "re");
    for (; file && (c = fgetc(file)) != EOF; last = c)
        lines += last == '\n';
    if (file)
        fclose(file);
    return lines;
}

static int missing(const struct chip *chip, unsigned i, const char *path, char *error, size_t bytes)
{
    unsigned beside = group_end(chip, i, path);
    const char *name = keys[i].name, *what = i < CHIP_KEYS ? "number" : "\"text\"";
    int group = (int)strcspn(name, ".");
    if (beside < CHIP_ALL)
        snprintf(error, bytes, "%s:%u: %s is missing, beside %s: %s = (%s, \"guess: why\"), %s", path,
                 chip->line[beside], name, keys[beside].name, name + group + 1, what, keys[i].help);
    else
        snprintf(error, bytes, "%s:%u: %s is missing: %.*s: { %s = (%s, \"guess: why\"); }, %s", path,
                 line_count(path), name, group, name, name + group + 1, what, keys[i].help);
    return EHP_ERR_BAD_CHIP;
}

/* What `iods` has of something, and the key that says how many there are. */
static bool count_fits(const struct chip *chip, unsigned key, unsigned count, const char *verb,
                       const char *what, char *error, size_t bytes)
{
    if (count == chip_get(chip, (enum chip_key)key))
        return true;
    if (chip->iods_line && !is_own(chip, key))
        snprintf(error, bytes, "%s:%u: iods %s %u %s, but %s = %u", chip->path, chip->iods_line, verb, count,
                 what, keys[key].name, chip_get(chip, (enum chip_key)key));
    else
        chip_mistake(chip, key, error, bytes, "iods %s %u %s", verb, count, what);
    return false;
}

/* Dies stand on an IOD's interfaces. */
static bool ports_fit(const struct chip *chip, char *error, size_t bytes)
{
    for (unsigned i = 0; i < chip->iods; i++) {
        const unsigned xcds = chip->iod[i].xcds, ccds = chip->iod[i].ccds;
        char text[160];
        unsigned key;
        if (xcds > chip_get(chip, CHIP_iod_xcd_ports)) {
            key = CHIP_iod_xcd_ports;
            snprintf(text, sizeof(text), "IOD %u of iods carries %u XCDs", i, xcds);
        } else if (ccds > chip_get(chip, CHIP_iod_ccd_ports)) {
            key = CHIP_iod_ccd_ports;
            snprintf(text, sizeof(text), "IOD %u of iods carries %u CCDs", i, ccds);
        } else if (xcds && ccds && chip_get(chip, CHIP_iod_either)) {
            key = CHIP_iod_either;
            snprintf(text, sizeof(text),
                     "IOD %u of iods carries XCDs and CCDs: give each kind IODs of its own", i);
        } else {
            continue;
        }
        if (chip->iods_line && !is_own(chip, key))
            snprintf(error, bytes, "%s:%u: %s, but %s = %u", chip->path, chip->iod[i].line, text,
                     keys[key].name, chip_get(chip, (enum chip_key)key));
        else
            chip_mistake(chip, key, error, bytes, "%s", text);
        return false;
    }
    return true;
}

static int check_whole(struct chip *chip, const char *path, char *error, size_t bytes)
{
    for (unsigned i = 0; i < CHIP_ALL; i++)
        if (keys[i].name && !chip->source[i])
            return missing(chip, i, path, error, bytes);
    unsigned xcds = 0, ccds = 0, stacks = 0;
    for (unsigned i = 0; i < chip->iods; i++) {
        xcds += chip->iod[i].xcds;
        ccds += chip->iod[i].ccds;
        stacks += chip->iod[i].hbm_stacks;
    }
    if (!count_fits(chip, CHIP_iod_count, chip->iods, "list", "IODs", error, bytes) ||
        !count_fits(chip, CHIP_xcd_count, xcds, "carry", "XCDs", error, bytes) ||
        !count_fits(chip, CHIP_ccd_count, ccds, "carry", "CCDs", error, bytes) ||
        !count_fits(chip, CHIP_hbm_stacks, stacks, "carry", "HBM stacks", error, bytes) ||
        !ports_fit(chip, error, bytes) || links_check(chip, error, bytes) != EHP_OK)
        return EHP_ERR_BAD_CHIP;
    if (chip_get(chip, CHIP_ccd_count) && !chip_get(chip, CHIP_ccd_cores)) {
        chip_clash(chip, &CHIP_CLASH(CHIP_ccd_cores, CHIP_ccd_count), error, bytes,
                   "must be at least 1 where ccd.count is");
        return EHP_ERR_BAD_CHIP;
    }
    if (!xcds && !ccds) {
        chip_clash(chip, &CHIP_CLASH(CHIP_xcd_count, CHIP_ccd_count), error, bytes,
                   "must be at least 1 without CCDs (ccd.count): nothing would execute anything");
        return EHP_ERR_BAD_CHIP;
    }
    if (xcds && !chip->partitions) {
        chip_mistake(chip, CHIP_xcd_count, error, bytes,
                     "XCDs need partitions, as partitions = ( (\"spx\", 1) );");
        return EHP_ERR_BAD_CHIP;
    }
    if (!xcds && chip->partitions) {
        if (chip->partitions_line)
            snprintf(error, bytes, "%s:%u: partitions: there are no XCDs to divide: partitions = ( );",
                     chip->path, chip->partitions_line);
        else
            chip_mistake(chip, CHIP_xcd_count, error, bytes,
                         "partitions have no XCDs to divide: partitions = ( );");
        return EHP_ERR_BAD_CHIP;
    }
    if (chip_get(chip, CHIP_xcd_cus) > chip_get(chip, CHIP_xcd_cus_physical)) {
        chip_clash(chip, &CHIP_CLASH(CHIP_xcd_cus, CHIP_xcd_cus_physical), error, bytes,
                   "must be no more than xcd.cus_physical");
        return EHP_ERR_BAD_CHIP;
    }
    if (chip_get(chip, CHIP_iod_count) % chip_get(chip, CHIP_iod_columns)) {
        chip_clash(chip, &CHIP_CLASH(CHIP_iod_columns, CHIP_iod_count), error, bytes,
                   "must divide iod.count: rows are full");
        return EHP_ERR_BAD_CHIP;
    }
    if (chip_get(chip, CHIP_vm_touch_stacks) > chip_get(chip, CHIP_hbm_stacks)) {
        chip_clash(chip, &CHIP_CLASH(CHIP_vm_touch_stacks, CHIP_hbm_stacks), error, bytes,
                   "must be no more than hbm.stacks");
        return EHP_ERR_BAD_CHIP;
    }
    for (unsigned i = 0; i < chip->partitions; i++)
        if (chip_get(chip, CHIP_xcd_count) % chip->partition[i].count) {
            const unsigned devices = chip->partition[i].count;
            const char *name = chip->partition[i].name;
            if (chip->partitions_line && !is_own(chip, CHIP_xcd_count))
                snprintf(error, bytes,
                         "%s:%u: partitions: the %u devices of partition %s do not divide xcd.count = %u",
                         chip->path, chip->partitions_line, devices, name, chip_get(chip, CHIP_xcd_count));
            else
                chip_mistake(chip, CHIP_xcd_count, error, bytes,
                             "the %u devices of partition %s do not divide it", devices, name);
            return EHP_ERR_BAD_CHIP;
        }
    return EHP_OK;
}

int chip_load(const char *name_or_path, struct chip *chip, char *error, size_t bytes)
{
    memset(chip, 0, sizeof(*chip));
    char path[1200];
    if (strchr(name_or_path, '/') || strstr(name_or_path, ".cfg")) {
        snprintf(path, sizeof(path), "%s", name_or_path);
    } else {
        char directory[1024];
        if (!chip_directory(directory, sizeof(directory))) {
            snprintf(error, bytes, "the chip files are not where the library expects them; set EHP_CHIPS");
            return EHP_ERR_NOT_FOUND;
        }
        snprintf(path, sizeof(path), "%s/%s.cfg", directory, name_or_path);
    }
    if (access(path, R_OK) != 0) {
        char known[FILES_NAMES] = "";
        ehp_chips(files_add_name, known);
        snprintf(error, bytes, "no chip \"%s\"; there are: %s", name_or_path, known);
        return EHP_ERR_NOT_FOUND;
    }
    const char *leaf = strrchr(path, '/');
    leaf = leaf ? leaf + 1 : path;
    snprintf(chip->name, sizeof(chip->name), "%.*s", (int)strcspn(leaf, "."), leaf);
    if (!put_text(&chip->path, path))
        return EHP_ERR_NO_MEMORY;
    int status = load_file(path, chip, 0, error, bytes);
    if (status == EHP_OK)
        status = check_whole(chip, path, error, bytes);
    if (status != EHP_OK)
        chip_free(chip);
    return status;
}

void chip_free(struct chip *chip)
{
    for (unsigned i = 0; i < CHIP_ALL; i++) {
        free(chip->text[i]);
        free(chip->source[i]);
        free(chip->file[i]);
        chip->text[i] = chip->source[i] = chip->file[i] = NULL;
    }
    free(chip->path);
    chip->path = NULL;
    links_free(chip);
}

/* Files without a title are bases of others, not chips. */
int ehp_chips(void (*fn)(const char *, const char *, const char *, void *), void *user)
{
    char directory[1024];
    return chip_directory(directory, sizeof(directory)) ? files_each(directory, "chip.title", fn, user)
                                                        : EHP_ERR_NOT_FOUND;
}
