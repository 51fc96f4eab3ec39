/* SPDX-License-Identifier: MIT */
/* Reading node files; see node.h. */
#include "chip/node.h"

#include <assert.h>
#include <libconfig.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip/chip.h"
#include "chip/files.h"
#include "ehp/ehp.h"

static_assert((int)NODE_MAX_PACKAGES == EHP_PACKAGES_MAX, "what the interface promises");

static const struct {
    const char *name, *unit, *help;
    double least, most;
} keys[NODE_KEYS] = {
#define KEY(group, name, unit, least, most, help)                                                            \
    [NODE_##group##_##name] = {#group "." #name, unit, help, least, most},
#include "chip/node.def"
#undef KEY
};

const char *node_key_name(unsigned i)
{
    return keys[i].name;
}

const char *node_key_unit(unsigned i)
{
    return keys[i].unit;
}

const char *node_key_help(unsigned i)
{
    return keys[i].help;
}

bool node_directory(char *path, size_t bytes)
{
    const char *chosen = secure_getenv("EHP_NODES");
    if (chosen && *chosen) {
        snprintf(path, bytes, "%s", chosen);
    } else {
        char chips[1024];
        if (!chip_directory(chips, sizeof(chips)))
            return false;
        snprintf(path, bytes, "%s/../nodes", chips);
    }
    return access(path, R_OK) == 0;
}

void node_single(struct node *node)
{
    memset(node, 0, sizeof(*node));
    node->packages = 1;
}

void node_free(struct node *node)
{
    for (unsigned i = 0; i < NODE_KEYS; i++)
        free(node->source[i]);
    free(node->path);
    free(node->title);
    node_single(node);
}

/* What is read from one file. */
struct reading {
    struct node *node;
    const char *path;
    char *error;
    size_t bytes;
};

/* Says what is wrong at a line of the file. */
__attribute__((format(printf, 3, 4))) static int wrong(const struct reading *r, unsigned line,
                                                       const char *format, ...)
{
    char text[400], room[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(r->error, r->bytes, "%s:%u: %s", r->path, line, ehp_printable(text, room, sizeof(room)));
    return EHP_ERR_BAD_CHIP;
}

static double number_of(const config_setting_t *value)
{
    switch (config_setting_type(value)) {
    case CONFIG_TYPE_INT:
        return config_setting_get_int(value);
    case CONFIG_TYPE_INT64:
        return (double)config_setting_get_int64(value);
    case CONFIG_TYPE_FLOAT:
        return config_setting_get_float(value);
    default:
        return -1;
    }
}

/* A package alone has no links, and a node that stands alone no network. */
static bool may_miss(const struct reading *r, const config_t *config, unsigned i)
{
    const bool link = !strncmp(keys[i].name, "link.", 5);
    return !config_lookup(config, link ? "link" : "network") && (!link || r->node->packages == 1);
}

static int read_key(const struct reading *r, const config_t *config, unsigned i)
{
    const config_setting_t *s = config_lookup(config, keys[i].name);
    if (!s && may_miss(r, config, i))
        return EHP_OK;
    if (!s)
        return wrong(r, 1, "%s is missing: %s = (%g, \"guess: why\"), %s", keys[i].name,
                     strchr(keys[i].name, '.') + 1, keys[i].least, keys[i].help);
    const config_setting_t *value = config_setting_get_elem(s, 0), *source = config_setting_get_elem(s, 1);
    const unsigned line = config_setting_source_line(s);
    if (config_setting_type(s) != CONFIG_TYPE_LIST || config_setting_length(s) != 2 ||
        config_setting_type(source) != CONFIG_TYPE_STRING)
        return wrong(r, line, "%s must be (value, \"source\"), as (%g, \"guess: why\")", keys[i].name,
                     keys[i].least);
    const double number = number_of(value);
    const bool whole = !*keys[i].unit; /* a count */
    if (!(number >= keys[i].least && number <= keys[i].most) || (whole && number != floor(number)))
        return wrong(r, line, "%s must be a %s, %g .. %g%s%s (%s)", keys[i].name,
                     whole ? "whole number" : "number", keys[i].least, keys[i].most, whole ? "" : " ",
                     keys[i].unit, keys[i].help);
    r->node->value[i] = number;
    r->node->source[i] = strdup(config_setting_get_string(source));
    return r->node->source[i] ? EHP_OK : EHP_ERR_NO_MEMORY;
}

/* A pair of numbers of a link, both below `end`. */
static int read_pair(const struct reading *r, const config_setting_t *link, const char *name, unsigned end,
                     unsigned out[2])
{
    const config_setting_t *pair = config_setting_get_member(link, name);
    const unsigned line = config_setting_source_line(pair ? pair : link);
    bool good = pair && config_setting_is_aggregate(pair) && config_setting_length(pair) == 2;
    for (unsigned i = 0; i < 2 && good; i++) {
        const config_setting_t *one = config_setting_get_elem(pair, i);
        const int number = config_setting_get_int(one);
        good = config_setting_type(one) == CONFIG_TYPE_INT && number >= 0 && (unsigned)number < end;
        out[i] = (unsigned)number;
    }
    if (good)
        return EHP_OK;
    return wrong(r, line, "%s of a link must be two numbers below %u, as %s = (0, 1)", name, end, name);
}

static int read_link(const struct reading *r, const config_setting_t *s)
{
    struct node *node = r->node;
    struct node_link *link = &node->link[node->links];
    int count = 1;
    link->line = config_setting_source_line(s);
    if (config_setting_type(s) != CONFIG_TYPE_GROUP)
        return wrong(r, link->line, "each of links must be { packages = (0, 1); iods = (0, 0); count = 1; }");
    for (int k = 0; k < config_setting_length(s); k++) {
        const config_setting_t *field = config_setting_get_elem(s, (unsigned)k);
        const char *name = config_setting_name(field);
        if (strcmp(name, "packages") && strcmp(name, "iods") && strcmp(name, "count"))
            return wrong(r, config_setting_source_line(field),
                         "a link has packages, iods and count, but no %s", name);
    }
    int status = read_pair(r, s, "packages", node->packages, link->package);
    if (status == EHP_OK)
        status = read_pair(r, s, "iods", CHIP_MAX_IODS, link->iod);
    if (status != EHP_OK)
        return status;
    if (link->package[0] == link->package[1])
        return wrong(r, link->line, "packages of a link must be two, not %u twice", link->package[0]);
    if (config_setting_get_member(s, "count") &&
        (config_setting_lookup_int(s, "count", &count) != CONFIG_TRUE || count < 1 || count > 64))
        return wrong(r, link->line, "count of a link must be a number, 1 .. 64 links side by side");
    link->count = (unsigned)count;
    for (unsigned i = 0; i < node->links; i++)
        if (node_link_of(node, link->package[0], link->package[1]).count)
            return wrong(r, link->line, "packages %u and %u have their links already: count says how many",
                         link->package[0], link->package[1]);
    node->links++;
    return EHP_OK;
}

static int read_links(const struct reading *r, const config_t *config)
{
    struct node *node = r->node;
    const config_setting_t *list = config_lookup(config, "links");
    const unsigned line = list ? config_setting_source_line(list) : 1;
    if (!list && node->packages > 1)
        return wrong(r, line, "links is missing: links = ( { packages = (0, 1); iods = (0, 0); }, ... )");
    const unsigned length = list ? (unsigned)config_setting_length(list) : 0;
    if (list && (!config_setting_is_list(list) || length > NODE_MAX_LINKS))
        return wrong(r, line, "links must be a list of %d at most", NODE_MAX_LINKS);
    for (unsigned i = 0; i < length; i++) {
        int status = read_link(r, config_setting_get_elem(list, i));
        if (status != EHP_OK)
            return status;
    }
    uint8_t way[NODE_MAX_PACKAGES];
    for (unsigned b = 1; b < node->packages; b++)
        if (!node_way(node, 0, b, way))
            return wrong(r, line,
                         "links: there is no way from package 0 to package %u, by others either: add "
                         "{ packages = (0, %u); ... }",
                         b, b);
    return EHP_OK;
}

static bool is_key_of(const char *group, const char *name)
{
    char full[96];
    snprintf(full, sizeof(full), "%s.%s", group, name);
    for (unsigned i = 0; i < NODE_KEYS; i++)
        if (!strcmp(keys[i].name, full))
            return true;
    return false;
}

/* A misspelt key must not pass silently. */
static int reject_unknown(const struct reading *r, const config_t *config)
{
    static const char *const words[] = {"title", "chip", "packages", "links"};
    const config_setting_t *root = config_root_setting(config);
    for (int g = 0; g < config_setting_length(root); g++) {
        const config_setting_t *s = config_setting_get_elem(root, (unsigned)g);
        const char *name = config_setting_name(s);
        bool known = config_setting_type(s) == CONFIG_TYPE_GROUP;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !known; i++)
            known = !strcmp(name, words[i]);
        for (int k = 0; known && config_setting_is_group(s) && k < config_setting_length(s); k++)
            if (!is_key_of(name, config_setting_name(config_setting_get_elem(s, (unsigned)k))))
                return wrong(
                    r, config_setting_source_line(config_setting_get_elem(s, (unsigned)k)),
                    "unknown key %s.%s; a node has link.rate, .latency and .header, and network.rate, "
                    ".latency, .ports and .ranks",
                    name, config_setting_name(config_setting_get_elem(s, (unsigned)k)));
        if (!known)
            return wrong(r, config_setting_source_line(s),
                         "unknown %s; a node has title, chip, packages, link, links and network", name);
    }
    return EHP_OK;
}

static int read_node(const struct reading *r, const config_t *config)
{
    struct node *node = r->node;
    const char *title = NULL, *chip = NULL;
    char room[256];
    int packages = 0;
    int status = reject_unknown(r, config);
    if (status != EHP_OK)
        return status;
    if (config_lookup_string(config, "title", &title) != CONFIG_TRUE)
        return wrong(r, 1, "title is missing: title = \"Four MI300A\";");
    const config_setting_t *given = config_lookup(config, "chip");
    if (given && config_setting_type(given) != CONFIG_TYPE_STRING)
        return wrong(r, config_setting_source_line(given),
                     "chip must be one name, as chip = \"mi300a\": all packages of a node are of one chip");
    if (config_lookup_string(config, "chip", &chip) != CONFIG_TRUE || strlen(chip) >= sizeof(node->chip))
        return wrong(r, 1, "chip is missing: chip = \"mi300a\"; that of all packages");
    if (config_lookup_int(config, "packages", &packages) != CONFIG_TRUE || packages < 1 ||
        packages > NODE_MAX_PACKAGES)
        return wrong(r, 1, "packages must be a number, 1 .. %d", NODE_MAX_PACKAGES);
    node->title = strdup(ehp_printable(title, room, sizeof(room)));
    snprintf(node->chip, sizeof(node->chip), "%s", chip);
    node->packages = (unsigned)packages;
    for (unsigned i = 0; i < NODE_KEYS && status == EHP_OK; i++)
        status = read_key(r, config, i);
    if (status == EHP_OK)
        status = read_links(r, config);
    return status == EHP_OK && !node->title ? EHP_ERR_NO_MEMORY : status;
}

int node_load(const char *name_or_path, struct node *node, char *error, size_t bytes)
{
    char path[1200];
    node_single(node);
    if (strchr(name_or_path, '/') || strstr(name_or_path, ".cfg")) {
        snprintf(path, sizeof(path), "%s", name_or_path);
    } else {
        char directory[1100];
        if (!node_directory(directory, sizeof(directory))) {
            snprintf(error, bytes, "the node files are not where the library expects them; set EHP_NODES");
            return EHP_ERR_NOT_FOUND;
        }
        snprintf(path, sizeof(path), "%s/%s.cfg", directory, name_or_path);
    }
    if (access(path, R_OK) != 0) {
        char known[FILES_NAMES] = "";
        ehp_nodes(files_add_name, known);
        snprintf(error, bytes, "no node \"%s\"; there are: %s", name_or_path, known);
        return EHP_ERR_NOT_FOUND;
    }
    const char *leaf = strrchr(path, '/');
    leaf = leaf ? leaf + 1 : path;
    snprintf(node->name, sizeof(node->name), "%.*s", (int)strcspn(leaf, "."), leaf);
    node->path = strdup(path);
    config_t config;
    config_init(&config);
    int status = EHP_ERR_BAD_CHIP;
    if (config_read_file(&config, path) != CONFIG_TRUE)
        snprintf(error, bytes, "%s:%d: %s", path, config_error_line(&config), config_error_text(&config));
    else
        status = read_node(&(struct reading){node, path, error, bytes}, &config);
    config_destroy(&config);
    if (status != EHP_OK)
        node_free(node);
    return status;
}

bool node_check(const struct node *node, const struct chip *chip, char *error, size_t bytes)
{
    const unsigned iods = chip_get(chip, CHIP_iod_count), most = chip_get(chip, CHIP_iod_links);
    for (unsigned i = 0; i < node->links; i++) {
        const struct node_link *link = &node->link[i];
        for (unsigned end = 0; end < 2; end++) {
            unsigned used =
                chip->value[CHIP_host_memory] > 0 && chip_get(chip, CHIP_pcie_iod) == link->iod[end];
            for (unsigned k = 0; k <= i; k++)
                for (unsigned other = 0; other < 2; other++)
                    if (node->link[k].package[other] == link->package[end] &&
                        node->link[k].iod[other] == link->iod[end])
                        used += node->link[k].count;
            if (link->iod[end] >= iods || used > most) {
                if (link->iod[end] >= iods)
                    snprintf(error, bytes, "%s:%u: iods of a link: chip %s has %u IODs, from 0 on, and no %u",
                             node->path, link->line, chip->name, iods, link->iod[end]);
                else
                    snprintf(
                        error, bytes,
                        "%s:%u: links: IOD %u of package %u would have %u%s, but iod.links of chip %s is %u",
                        node->path, link->line, link->iod[end], link->package[end], used,
                        chip->value[CHIP_host_memory] > 0 && chip_get(chip, CHIP_pcie_iod) == link->iod[end]
                            ? " with the host's"
                            : "",
                        chip->name, most);
                return false;
            }
        }
    }
    return true;
}

struct node_link node_link_of(const struct node *node, unsigned a, unsigned b)
{
    for (unsigned i = 0; i < node->links; i++) {
        const struct node_link *link = &node->link[i];
        if (link->package[0] == a && link->package[1] == b)
            return *link;
        if (link->package[0] == b && link->package[1] == a)
            return (struct node_link){{a, b}, {link->iod[1], link->iod[0]}, link->count, link->line};
    }
    return (struct node_link){{a, b}, {0, 0}, 0, 0};
}

unsigned node_way(const struct node *node, unsigned a, unsigned b, uint8_t way[NODE_MAX_PACKAGES])
{
    const unsigned from = a < b ? a : b, to = a < b ? b : a;
    uint8_t before[NODE_MAX_PACKAGES], hops[NODE_MAX_PACKAGES] = {0},
                                       list[NODE_MAX_PACKAGES] = {(uint8_t)from};
    unsigned count = 1;
    for (unsigned i = 0; i < count; i++)
        for (unsigned p = 0; p < node->packages; p++)
            if (p != from && !hops[p] && node_link_of(node, list[i], p).count) {
                hops[p] = (uint8_t)(hops[list[i]] + 1);
                before[p] = list[i];
                list[count++] = (uint8_t)p;
            }
    way[0] = (uint8_t)a;
    if (a == b || !hops[to])
        return 0;
    for (unsigned i = hops[to], p = to; p != from; i--, p = before[p])
        way[a < b ? i : hops[to] - i] = (uint8_t)p;
    way[a < b ? 0 : hops[to]] = (uint8_t)from;
    return hops[to];
}

int ehp_nodes(void (*fn)(const char *, const char *, const char *, void *), void *user)
{
    char directory[1100];
    return node_directory(directory, sizeof(directory)) ? files_each(directory, "title", fn, user)
                                                        : EHP_ERR_NOT_FOUND;
}
