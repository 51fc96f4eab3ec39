/* SPDX-License-Identifier: MIT */
/*
 * The links between the IODs of a package:
 *
 *     links = (
 *         { iods = (0, 1); rate = "usr.horizontal"; latency = "usr.latency"; },
 *         { iods = (1, 2); rate = (200, "documented: where"); latency = (30, "guess: why"); }
 *     );
 *
 * A number of many links is a key, which they name; one of a single link stands there with its source.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/internal.h"
#include "ehp/ehp.h"

#define SHAPE "{ iods = (0, 1); rate = (200, \"guess: why\"); latency = \"usr.latency\"; }"

static const struct quantity {
    const char *name, *unit;
    double least, most;
} rate = {"rate", "GB/s", 1, 1e6}, latency = {"latency", "ns", 1, 1000};

static int read_number(const config_setting_t *link, const struct quantity *q, struct chip_number *out,
                       const char *path, char *error, size_t bytes)
{
    const config_setting_t *s = config_setting_get_member(link, q->name);
    out->key = CHIP_KEYS;
    if (!s)
        return chip_wrong(link, path, error, bytes, "a link has no %s: each of links is " SHAPE, q->name);
    if (config_setting_type(s) == CONFIG_TYPE_STRING) {
        const char *name = config_setting_get_string(s);
        for (unsigned i = 0; i < CHIP_KEYS; i++)
            if (!strcmp(chip_key_name(i), name) && !strcmp(chip_key_unit(i), q->unit))
                out->key = i;
        return out->key < CHIP_KEYS ? EHP_OK
                                    : chip_wrong(s, path, error, bytes,
                                                 "%s of a link: there is no key \"%s\" in %s (`ehp chips "
                                                 "keys` lists all)",
                                                 q->name, name, q->unit);
    }
    const config_setting_t *value = config_setting_get_elem(s, 0), *source = config_setting_get_elem(s, 1);
    if (config_setting_type(s) != CONFIG_TYPE_LIST || config_setting_length(s) != 2 ||
        config_setting_type(source) != CONFIG_TYPE_STRING || !chip_number(value, &out->value))
        return chip_wrong(s, path, error, bytes,
                          "%s of a link must be a key's name, or (number, \"source\"), as (200, \"guess: "
                          "why\")",
                          q->name);
    if (!(out->value >= q->least && out->value <= q->most))
        return chip_wrong(s, path, error, bytes, "%s of a link = %g is outside of %g .. %g %s", q->name,
                          out->value, q->least, q->most, q->unit);
    if (!chip_is_source(config_setting_get_string(source)))
        return chip_wrong(s, path, error, bytes,
                          "%s of a link: the source \"%s\" must be documented, measured or guess, as "
                          "\"guess: why\"",
                          q->name, config_setting_get_string(source));
    return chip_put_words(&out->source, config_setting_get_string(source)) ? EHP_OK : EHP_ERR_NO_MEMORY;
}

static int read_ends(const config_setting_t *s, struct chip *chip, struct chip_link *link, const char *path,
                     char *error, size_t bytes)
{
    const config_setting_t *ends = config_setting_get_member(s, "iods");
    if (!ends || config_setting_type(ends) != CONFIG_TYPE_LIST || config_setting_length(ends) != 2)
        return chip_wrong(s, path, error, bytes, "iods of a link must be two of the list iods: " SHAPE);
    for (unsigned k = 0; k < 2; k++) {
        double number;
        if (!chip_number(config_setting_get_elem(ends, k), &number) || number < 0 || number >= CHIP_MAX_IODS)
            return chip_wrong(ends, path, error, bytes,
                              "iods of a link are numbers, from 0 on, in the order of iods");
        link->iod[k] = (unsigned)number;
    }
    if (link->iod[0] == link->iod[1])
        return chip_wrong(ends, path, error, bytes, "iods of a link must be two, not %u twice", link->iod[0]);
    for (const struct chip_link *l = chip->link; l < link; l++)
        if ((l->iod[0] == link->iod[0] && l->iod[1] == link->iod[1]) ||
            (l->iod[0] == link->iod[1] && l->iod[1] == link->iod[0]))
            return chip_wrong(
                ends, path, error, bytes,
                "links has IODs %u and %u already: several side by side are one, with their sum "
                "as its rate",
                link->iod[0], link->iod[1]);
    return EHP_OK;
}

static int read_link(const config_setting_t *s, struct chip *chip, struct chip_link *link, const char *path,
                     char *error, size_t bytes)
{
    for (int k = 0; k < config_setting_length(s); k++) {
        const config_setting_t *field = config_setting_get_elem(s, (unsigned)k);
        const char *name = config_setting_name(field);
        if (strcmp(name, "iods") && strcmp(name, rate.name) && strcmp(name, latency.name))
            return chip_wrong(field, path, error, bytes, "a link has iods, rate and latency, but no %s",
                              name);
    }
    link->line = config_setting_source_line(s);
    int status = read_ends(s, chip, link, path, error, bytes);
    if (status == EHP_OK)
        status = read_number(s, &rate, &link->rate, path, error, bytes);
    if (status == EHP_OK)
        status = read_number(s, &latency, &link->latency, path, error, bytes);
    return status;
}

void links_free(struct chip *chip)
{
    for (unsigned i = 0; i < CHIP_MAX_LINKS; i++) {
        free(chip->link[i].rate.source);
        free(chip->link[i].latency.source);
    }
    free(chip->links_file);
    memset(chip->link, 0, sizeof(chip->link));
    chip->links_file = NULL;
    chip->links = 0;
}

int links_read(const config_t *config, struct chip *chip, const char *path, char *error, size_t bytes)
{
    const config_setting_t *list = config_lookup(config, "links");
    if (!list)
        return EHP_OK;
    links_free(chip);
    if (config_setting_type(list) != CONFIG_TYPE_LIST || config_setting_length(list) > CHIP_MAX_LINKS)
        return chip_wrong(list, path, error, bytes, "links must be a list of %d at most: ( " SHAPE ", ... )",
                          CHIP_MAX_LINKS);
    chip->links_line = config_setting_source_line(list);
    chip->links_file = strdup(path);
    if (!chip->links_file)
        return EHP_ERR_NO_MEMORY;
    int status = EHP_OK;
    for (int i = 0; i < config_setting_length(list) && status == EHP_OK; i++) {
        const config_setting_t *s = config_setting_get_elem(list, (unsigned)i);
        if (config_setting_type(s) != CONFIG_TYPE_GROUP)
            return chip_wrong(list, path, error, bytes, "each of links must be " SHAPE);
        status = read_link(s, chip, &chip->link[i], path, error, bytes);
        chip->links++;
    }
    return status;
}

/* Where the list stands, or what of the chip's own file makes it wrong: its IODs. */
static void say_where(const struct chip *chip, unsigned line, char *error, size_t bytes)
{
    const bool own = chip->links_file && !strcmp(chip->links_file, chip->path);
    if (!own && chip->iods_line)
        snprintf(error, bytes, "%s:%u: iods: ", chip->path, chip->iods_line);
    else
        snprintf(error, bytes, "%s:%u: ", chip->links_file ? chip->links_file : chip->path, line);
}

__attribute__((format(printf, 5, 6))) static int misfit(const struct chip *chip, unsigned line, char *error,
                                                        size_t bytes, const char *format, ...)
{
    say_where(chip, line, error, bytes);
    const size_t at = strlen(error);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + at, bytes - at, format, arguments);
    va_end(arguments);
    return EHP_ERR_BAD_CHIP;
}

static void resolve(const struct chip *chip, struct chip_number *number)
{
    if (number->key < CHIP_KEYS)
        number->value = chip->value[number->key];
}

int links_check(struct chip *chip, char *error, size_t bytes)
{
    bool reached[CHIP_MAX_IODS] = {true};
    for (unsigned i = 0; i < chip->links; i++) {
        struct chip_link *l = &chip->link[i];
        for (unsigned k = 0; k < 2; k++)
            if (l->iod[k] >= chip->iods)
                return misfit(chip, l->line, error, bytes,
                              "links joins IODs %u and %u, but there are %u, from 0 on: give links of those",
                              l->iod[0], l->iod[1], chip->iods);
        resolve(chip, &l->rate);
        resolve(chip, &l->latency);
    }
    for (unsigned round = 0; round < chip->iods; round++)
        for (unsigned i = 0; i < chip->links; i++) {
            const unsigned *iod = chip->link[i].iod;
            reached[iod[0]] = reached[iod[1]] = reached[iod[0]] || reached[iod[1]];
        }
    for (unsigned i = 1; i < chip->iods; i++)
        if (!reached[i])
            return misfit(chip, chip->links_line, error, bytes,
                          "links has no way from IOD 0 to IOD %u: every IOD must be joined to the others, as "
                          "by " SHAPE,
                          i);
    return EHP_OK;
}
