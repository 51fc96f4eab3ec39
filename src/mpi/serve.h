/* SPDX-License-Identifier: MIT */
/* The order of things (order.h) for processes: they tell and are answered over sockets. */
#ifndef EHP_MPI_SERVE_H
#define EHP_MPI_SERVE_H

#include <stdbool.h>
#include <stdint.h>

struct network_numbers;

/* What a rank says first; then struct order_op with its words, and struct order_answer with what follows. */
struct serve_hello {
    uint64_t token[2]; /* who does not know it is not of the program */
    uint32_t rank, reserved;
};

/* A thread that serves so many ranks, until all have gone.  `here`: they are all on this host.  False: errno
 * says why not. */
bool serve_start(const struct network_numbers *numbers, unsigned ranks, bool here, const uint64_t token[2],
                 uint16_t *port);

#endif
