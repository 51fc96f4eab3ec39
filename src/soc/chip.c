/* SPDX-License-Identifier: MIT */
/* Reading chip files; see chip.h. */
#include "soc/chip.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ehp/ehp.h"

static const struct {
    const char *name, *unit, *help;
    double least, most;
} keys[CHIP_ALL] = {
#define TEXT(group, name, help)
#define KEY(group, name, unit, least, most, help)                                                            \
    [CHIP_##group##_##name] = {#group "." #name, unit, help, least, most},
#include "soc/chip.def"
#undef KEY
#undef TEXT
#define KEY(group, name, unit, least, most, help)
#define TEXT(group, name, help) [CHIP_TEXT_##group##_##name] = {#group "." #name, "", help, 0, 0},
#include "soc/chip.def"
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
    const char *chosen = getenv("EHP_CHIPS");
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
            snprintf(path, bytes, "%s/%s", library, places[i]);
            if (access(path, R_OK) == 0)
                return true;
        }
    }
    return false;
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

/* A key's value is the list (value, "source"). */
static int read_key(const config_t *config, const char *path, unsigned i, struct chip *chip, char *error,
                    size_t bytes)
{
    const config_setting_t *s = config_lookup(config, keys[i].name);
    if (!s)
        return EHP_OK;
    const char *file = file_of(s, path);
    unsigned line = config_setting_source_line(s);
    const config_setting_t *value = config_setting_get_elem(s, 0), *source = config_setting_get_elem(s, 1);
    if (config_setting_type(s) != CONFIG_TYPE_LIST || !value || !source ||
        config_setting_type(source) != CONFIG_TYPE_STRING) {
        snprintf(error, bytes, "%s:%u: %s must be (value, \"source\")", file, line, keys[i].name);
        return EHP_ERR_BAD_CHIP;
    }
    if (i > CHIP_KEYS - 1) {
        if (config_setting_type(value) != CONFIG_TYPE_STRING) {
            snprintf(error, bytes, "%s:%u: %s must be a string", file, line, keys[i].name);
            return EHP_ERR_BAD_CHIP;
        }
        if (!put_text(&chip->text[i], config_setting_get_string(value)))
            return EHP_ERR_NO_MEMORY;
    } else {
        double number;
        switch (config_setting_type(value)) {
        case CONFIG_TYPE_INT:
            number = config_setting_get_int(value);
            break;
        case CONFIG_TYPE_INT64:
            number = (double)config_setting_get_int64(value);
            break;
        case CONFIG_TYPE_FLOAT:
            number = config_setting_get_float(value);
            break;
        default:
            snprintf(error, bytes, "%s:%u: %s must be a number", file, line, keys[i].name);
            return EHP_ERR_BAD_CHIP;
        }
        if (number < keys[i].least || number > keys[i].most) {
            snprintf(error, bytes, "%s:%u: %s = %g is outside of %g .. %g", file, line, keys[i].name, number,
                     keys[i].least, keys[i].most);
            return EHP_ERR_BAD_CHIP;
        }
        chip->value[i] = number;
    }
    return put_text(&chip->source[i], config_setting_get_string(source)) ? EHP_OK : EHP_ERR_NO_MEMORY;
}

/* A misspelt key must not pass silently. */
static int reject_unknown(const config_t *config, const char *path, char *error, size_t bytes)
{
    const config_setting_t *root = config_root_setting(config);
    for (int g = 0; g < config_setting_length(root); g++) {
        const config_setting_t *group = config_setting_get_elem(root, (unsigned)g);
        const char *name = config_setting_name(group);
        if (!strcmp(name, "base") || !strcmp(name, "partitions") || !strcmp(name, "iods"))
            continue;
        for (int k = 0; k < config_setting_length(group); k++) {
            const config_setting_t *s = config_setting_get_elem(group, (unsigned)k);
            const char *leaf = config_setting_name(s);
            char full[96];
            snprintf(full, sizeof(full), "%s.%s", name, leaf ? leaf : "?");
            bool known = false;
            for (unsigned i = 0; i < CHIP_ALL && !known; i++)
                known = keys[i].name && !strcmp(keys[i].name, full);
            if (!known) {
                snprintf(error, bytes, "%s:%u: unknown key %s (`ehp chips keys` lists them)",
                         file_of(s, path), config_setting_source_line(s), full);
                return EHP_ERR_BAD_CHIP;
            }
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
    for (int i = 0; i < config_setting_length(list) && i < CHIP_MAX_PARTITIONS; i++) {
        const config_setting_t *p = config_setting_get_elem(list, (unsigned)i);
        const char *name = config_setting_get_string_elem(p, 0);
        int count = config_setting_get_int_elem(p, 1);
        if (!name || count < 1 || count > 64) {
            snprintf(error, bytes, "%s:%u: partitions are (\"name\", devices)", file_of(p, path),
                     config_setting_source_line(p));
            return EHP_ERR_BAD_CHIP;
        }
        snprintf(chip->partition[i].name, sizeof(chip->partition[i].name), "%s", name);
        chip->partition[i].count = (unsigned)count;
        chip->partitions++;
    }
    return EHP_OK;
}

static int read_iods(const config_t *config, struct chip *chip)
{
    const config_setting_t *list = config_lookup(config, "iods");
    if (!list)
        return EHP_OK;
    memset(chip->iod, 0, sizeof(chip->iod));
    for (int i = 0; i < config_setting_length(list) && i < CHIP_MAX_IODS; i++) {
        const config_setting_t *d = config_setting_get_elem(list, (unsigned)i);
        int xcds = 0, ccds = 0, hbm = 0, mirrored = 0;
        config_setting_lookup_int(d, "xcds", &xcds);
        config_setting_lookup_int(d, "ccds", &ccds);
        config_setting_lookup_int(d, "hbm", &hbm);
        config_setting_lookup_bool(d, "mirrored", &mirrored);
        chip->iod[i].xcds = (unsigned)xcds;
        chip->iod[i].ccds = (unsigned)ccds;
        chip->iod[i].hbm_stacks = (unsigned)hbm;
        chip->iod[i].mirrored = mirrored != 0;
    }
    return EHP_OK;
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
            status = load_file(base_path, chip, depth + 1, error, bytes);
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
        status = read_iods(&config, chip);
    config_destroy(&config);
    return status;
}

static int check_whole(const struct chip *chip, const char *path, char *error, size_t bytes)
{
    for (unsigned i = 0; i < CHIP_ALL; i++)
        if (keys[i].name && !chip->source[i]) {
            snprintf(error, bytes, "%s: %s (%s) is missing", path, keys[i].name, keys[i].help);
            return EHP_ERR_BAD_CHIP;
        }
    unsigned xcds = 0, stacks = 0;
    for (unsigned i = 0; i < chip_get(chip, CHIP_iod_count) && i < CHIP_MAX_IODS; i++) {
        xcds += chip->iod[i].xcds;
        stacks += chip->iod[i].hbm_stacks;
    }
    if (xcds != chip_get(chip, CHIP_xcd_count) || stacks != chip_get(chip, CHIP_hbm_stacks)) {
        snprintf(error, bytes,
                 "%s: iods carry %u XCDs and %u HBM stacks, but xcd.count is %u and hbm.stacks %u", path,
                 xcds, stacks, chip_get(chip, CHIP_xcd_count), chip_get(chip, CHIP_hbm_stacks));
        return EHP_ERR_BAD_CHIP;
    }
    for (unsigned i = 0; i < chip->partitions; i++)
        if (chip_get(chip, CHIP_xcd_count) % chip->partition[i].count) {
            snprintf(error, bytes, "%s: partition %s: %u devices do not divide %u XCDs", path,
                     chip->partition[i].name, chip->partition[i].count, chip_get(chip, CHIP_xcd_count));
            return EHP_ERR_BAD_CHIP;
        }
    return EHP_OK;
}

static void list_name(const char *name, const char *path, const char *title, void *user)
{
    char *list = user;
    (void)path;
    (void)title;
    if (strlen(list) + strlen(name) + 3 < 160)
        strcat(strcat(list, *list ? ", " : ""), name);
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
        char known[160] = "";
        ehp_chips(list_name, known);
        snprintf(error, bytes, "no chip \"%s\"; there are: %s", name_or_path, known);
        return EHP_ERR_NOT_FOUND;
    }
    const char *leaf = strrchr(path, '/');
    leaf = leaf ? leaf + 1 : path;
    snprintf(chip->name, sizeof(chip->name), "%.*s", (int)strcspn(leaf, "."), leaf);
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
        chip->text[i] = chip->source[i] = NULL;
    }
}

static int is_chip_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".cfg");
}

/* Files without a title are bases of others, not chips. */
int ehp_chips(void (*fn)(const char *, const char *, const char *, void *), void *user)
{
    char directory[1024];
    if (!chip_directory(directory, sizeof(directory)))
        return EHP_ERR_NOT_FOUND;
    struct dirent **entries;
    int n = scandir(directory, &entries, is_chip_file, alphasort);
    if (n < 0)
        return EHP_ERR_NOT_FOUND;
    for (int i = 0; i < n; i++) {
        char path[1400], name[64];
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(entries[i]->d_name, "."), entries[i]->d_name);
        config_t config;
        config_init(&config);
        const config_setting_t *title = NULL;
        if (config_read_file(&config, path) == CONFIG_TRUE)
            title = config_lookup(&config, "chip.title");
        if (title)
            fn(name, path, config_setting_get_string_elem(title, 0), user);
        config_destroy(&config);
        free(entries[i]);
    }
    free(entries);
    return EHP_OK;
}
