/* SPDX-License-Identifier: MIT */
/*
 * What messages between the ranks of an MPI program go over: a copy by a core within a package, the links
 * between packages of a node, the ports of nodes and the network between.  A message goes through its stages
 * one after another without being stored on the way; each is busy with it for as long as its bytes take
 * there, and takes messages in the order in which their heads come.
 *
 * All times are picoseconds of simulated time.
 */
#ifndef EHP_MPI_NETWORK_H
#define EHP_MPI_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

enum { NETWORK_PACKAGES = 8, NETWORK_STAGES = NETWORK_PACKAGES };

/* As EHP_NETWORK has them: "mpi.overhead=450 ... packages=4 links=0,2,2,...". */
struct network_numbers {
    double overhead, latency, rate, reduce, eager, poll; /* of the chip's host */
    double far_latency, far_rate, ports, ranks;          /* of the network; ranks 0: all are in one node */
    double link_rate, link_latency, link_header;
    unsigned packages;
    unsigned links[NETWORK_PACKAGES][NETWORK_PACKAGES]; /* side by side, between two packages */
};

struct network_stage {
    uint64_t *free_ps; /* when it has passed on what it took last */
    double ps_per_byte;
    uint64_t latency_ps;
};

struct network {
    struct network_numbers numbers;
    unsigned ranks, nodes, each; /* `each`: ranks of a node */
    uint64_t overhead_ps, poll_ps;
    uint64_t near_ps, far_ps; /* the shortest ways, within a node and between two */
    uint8_t hops[NETWORK_PACKAGES][NETWORK_PACKAGES];
    uint64_t *copier;   /* of a rank */
    uint64_t *out, *in; /* of a node's port */
    uint64_t *link;     /* of a node, from package to package */
};

/* A message on its way. */
struct network_way {
    struct network_stage stage[NETWORK_STAGES];
    unsigned stages, at;
    uint64_t tail_ps; /* when its last byte is at the stage */
};

/* False, with the word that is wrong in `wrong`. */
bool network_read(struct network_numbers *numbers, const char *text, char wrong[64]);
void network_open(struct network *network, const struct network_numbers *numbers, unsigned ranks);
void network_close(struct network *network);

/* The way from a rank to another.  The ranks of a node are in one package of it after another. */
void network_find(const struct network *network, struct network_way *way, unsigned from, unsigned to);
/* Its head is at the next stage: when it is at the one behind it, or, after the last, when all of it has
 * arrived. */
uint64_t network_pass(struct network_way *way, uint64_t ps, uint64_t bytes);
/* Of a core that puts together what has come with what it has. */
uint64_t network_reduce_ps(const struct network *network, uint64_t bytes);

#endif
