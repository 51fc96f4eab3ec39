/* SPDX-License-Identifier: MIT */
/*
 * The code objects that are loaded on a machine.
 *
 * Threads: code_list_add() and code_list_remove() take the lock; who looks something up holds it for reading,
 * for as long as it uses what it has found.
 */
#ifndef EHP_LOAD_CODE_LIST_H
#define EHP_LOAD_CODE_LIST_H

#include <pthread.h>

#include "load/code.h"

struct code_list {
    pthread_rwlock_t lock;
    struct ehp_code **code;
    size_t count, capacity;
    uint64_t changes; /* how often one was added or removed */
};

void code_list_init(struct code_list *list);
/* The code objects are the caller's. */
void code_list_destroy(struct code_list *list);

/* False: the host has no memory. */
bool code_list_add(struct code_list *list, struct ehp_code *code);
void code_list_remove(struct code_list *list, const struct ehp_code *code);

/* The one that contains `address`, with the lock held; NULL: none. */
struct ehp_code *code_list_find(const struct code_list *list, uint64_t address);

#endif
