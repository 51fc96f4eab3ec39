/* SPDX-License-Identifier: MIT */
/* The code objects that are loaded; see code_list.h. */
#include "load/code_list.h"

#include <stdlib.h>

void code_list_init(struct code_list *list)
{
    *list = (struct code_list){0};
    pthread_rwlock_init(&list->lock, NULL);
}

void code_list_destroy(struct code_list *list)
{
    free(list->code);
    pthread_rwlock_destroy(&list->lock);
}

bool code_list_add(struct code_list *list, struct ehp_code *code)
{
    pthread_rwlock_wrlock(&list->lock);
    bool room = list->count < list->capacity;
    if (!room) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        struct ehp_code **more = realloc(list->code, capacity * sizeof(struct ehp_code *));
        room = more != NULL;
        list->code = room ? more : list->code;
        list->capacity = room ? capacity : list->capacity;
    }
    if (room) {
        list->code[list->count++] = code;
        list->changes++;
    }
    pthread_rwlock_unlock(&list->lock);
    return room;
}

void code_list_remove(struct code_list *list, const struct ehp_code *code)
{
    pthread_rwlock_wrlock(&list->lock);
    for (size_t i = 0; i < list->count; i++)
        if (list->code[i] == code) {
            list->code[i] = list->code[--list->count];
            list->changes++;
            break;
        }
    pthread_rwlock_unlock(&list->lock);
}

struct ehp_code *code_list_find(const struct code_list *list, uint64_t address)
{
    for (size_t i = 0; i < list->count; i++)
        if (code_contains(list->code[i], address))
            return list->code[i];
    return NULL;
}
