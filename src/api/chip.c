/* SPDX-License-Identifier: MIT */
/* The chip of a machine, key by key, and the links of its node. */
#include <string.h>

#include "api/api.h"

int ehp_chip_value_at(ehp_machine *m, unsigned index, struct ehp_chip_value *out)
{
    if (index >= CHIP_ALL)
        return machine_error(m, EHP_ERR_NOT_FOUND, "a chip has %d keys", CHIP_ALL);
    size_t size = out->size < sizeof(*out) ? out->size : sizeof(*out);
    struct ehp_chip_value v = {
        .size = size,
        .key = chip_key_name(index),
        .text = m->chip.text[index],
        .unit = chip_key_unit(index),
        .source = m->chip.source[index],
        .help = chip_key_help(index),
        .number = index < CHIP_KEYS ? m->chip.value[index] : 0,
    };
    memcpy(out, &v, size);
    return EHP_OK;
}

int ehp_chip_value(ehp_machine *m, const char *key, struct ehp_chip_value *out)
{
    for (unsigned i = 0; i < CHIP_ALL; i++)
        if (!strcmp(chip_key_name(i), key))
            return ehp_chip_value_at(m, i, out);
    return machine_error(m, EHP_ERR_NOT_FOUND, "no key \"%s\" in a chip", key);
}

int ehp_chip_iod(ehp_machine *m, unsigned index, struct ehp_iod *out)
{
    if (index >= chip_get(&m->chip, CHIP_iod_count) || index >= CHIP_MAX_IODS)
        return machine_error(m, EHP_ERR_NOT_FOUND, "the chip has no IOD %u", index);
    struct ehp_iod d = {
        .size = out->size < sizeof(d) ? out->size : sizeof(d),
        .xcds = m->chip.iod[index].xcds,
        .ccds = m->chip.iod[index].ccds,
        .hbm_stacks = m->chip.iod[index].hbm_stacks,
        .mirrored = m->chip.iod[index].mirrored,
    };
    memcpy(out, &d, d.size);
    return EHP_OK;
}

static const char *source_of(const ehp_machine *m, const struct chip_number *number)
{
    return number->key < CHIP_KEYS ? m->chip.source[number->key] : number->source;
}

int ehp_chip_link(ehp_machine *m, unsigned index, struct ehp_iod_link *out)
{
    if (index >= m->chip.links)
        return machine_error(m, EHP_ERR_NOT_FOUND, "the chip has %u links between IODs", m->chip.links);
    const struct chip_link *link = &m->chip.link[index];
    const struct ehp_iod_link l = {
        .size = out->size < sizeof(l) ? out->size : sizeof(l),
        .iod = {link->iod[0], link->iod[1]},
        .rate = link->rate.value,
        .latency = link->latency.value,
        .rate_source = source_of(m, &link->rate),
        .latency_source = source_of(m, &link->latency),
    };
    memcpy(out, &l, l.size);
    return EHP_OK;
}

const char *ehp_node_title(const ehp_machine *m)
{
    return m->node.title ? m->node.title : "";
}

int ehp_node_link(ehp_machine *m, unsigned package, unsigned other, struct ehp_link *out)
{
    const struct node *node = &m->node;
    const struct node_link link = node_link_of(node, package, other);
    if (!link.count)
        return machine_error(m, EHP_ERR_NOT_FOUND, "no link between packages %u and %u of %u", package, other,
                             node->packages);
    struct ehp_link l = {
        .size = out->size < sizeof(l) ? out->size : sizeof(l),
        .iod = {link.iod[0], link.iod[1]},
        .count = link.count,
    };
    memcpy(out, &l, l.size);
    return EHP_OK;
}

unsigned ehp_node_hops(const ehp_machine *m, unsigned package, unsigned other)
{
    uint8_t way[NODE_MAX_PACKAGES];
    return package < m->node.packages && other < m->node.packages ? node_way(&m->node, package, other, way)
                                                                  : 0;
}

int ehp_node_traffic(ehp_machine *m, unsigned from, unsigned to, struct ehp_traffic *out)
{
    struct engine *engine = m->cp.engine;
    struct ehp_traffic t = {.size = out->size < sizeof(t) ? out->size : sizeof(t)};
    if (!engine->ops->read_traffic || !engine->ops->read_traffic(engine, from, to, &t))
        return machine_error(m, EHP_ERR_NOT_FOUND, "nothing takes time from package %u to %u", from, to);
    memcpy(out, &t, t.size);
    return EHP_OK;
}

int ehp_node_value_at(ehp_machine *m, unsigned index, struct ehp_chip_value *out)
{
    if (index >= NODE_KEYS)
        return machine_error(m, EHP_ERR_NOT_FOUND, "a node has %d keys", NODE_KEYS);
    const size_t size = out->size < sizeof(*out) ? out->size : sizeof(*out);
    const struct ehp_chip_value v = {
        .size = size,
        .key = node_key_name(index),
        .unit = node_key_unit(index),
        .source = m->node.source[index] ? m->node.source[index] : "",
        .help = node_key_help(index),
        .number = m->node.value[index],
    };
    memcpy(out, &v, size);
    return EHP_OK;
}
