/* SPDX-License-Identifier: MIT */
/*
 * A node is a data file: nodes/NAME.cfg, in libconfig's format: packages of one chip, and the links between
 * them.
 *
 *     title = "Four MI300A";
 *     chip = "mi300a"; packages = 4;
 *     link: { rate = (64, "documented: ISCA'24, VIII"); };
 *     links = ( { packages = (0, 1); iods = (3, 3); count = 2; }, ... );
 *
 * Sources: ISCA'24, VIII and figure 18.
 */
#ifndef EHP_CHIP_NODE_H
#define EHP_CHIP_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chip;

enum node_key {
#define KEY(group, name, unit, least, most, help) NODE_##group##_##name,
#include "chip/node.def"
#undef KEY
    NODE_KEYS
};

/* EHP_PACKAGES_MAX. */
enum { NODE_MAX_PACKAGES = 8, NODE_MAX_LINKS = NODE_MAX_PACKAGES * (NODE_MAX_PACKAGES - 1) / 2 };

/* So many links side by side between two packages, from one IOD of each. */
struct node_link {
    unsigned package[2], iod[2], count;
    unsigned line; /* in the file */
};

struct node {
    char name[32]; /* the file's; empty: one package alone */
    char *path, *title;
    char chip[64]; /* of all its packages */
    unsigned packages, links;
    struct node_link link[NODE_MAX_LINKS];
    double value[NODE_KEYS];
    char *source[NODE_KEYS];
};

/* One package by itself. */
void node_single(struct node *node);
/* Reads a node by name or by path; on failure returns an ehp_status and one line in `error`. */
int node_load(const char *name_or_path, struct node *node, char *error, size_t bytes);
void node_free(struct node *node);
/* Whether the chip has the IODs and the ports that the links need; else one line in `error`. */
bool node_check(const struct node *node, const struct chip *chip, char *error, size_t bytes);
/* The links between two packages, as they stand for `a`: its IOD first. */
struct node_link node_link_of(const struct node *node, unsigned a, unsigned b);

/*
 * The shortest way from a to b: packages from a on to b, of which it returns how many follow a: 1, if they
 * have links.  Of several the one by lower numbers, seen from the lower of the two: the way back is the same.
 * 0: there is none, or a is b.
 */
unsigned node_way(const struct node *node, unsigned a, unsigned b, uint8_t way[NODE_MAX_PACKAGES]);

/* "link.rate", its unit and help. */
const char *node_key_name(unsigned i);
const char *node_key_unit(unsigned i);
const char *node_key_help(unsigned i);

/* Writes the directory: $EHP_NODES, or nodes/ beside the chip directory. */
bool node_directory(char *path, size_t bytes);

#endif
