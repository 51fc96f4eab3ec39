/* SPDX-License-Identifier: MIT */
/*
 * What tasks of OpenMP's depend on: of one parent's, by the places that they name (OpenMP API 5.2, 15.9.5).
 * Who reads a place comes after the last before it that does not, and who does not after all that have read
 * it since. Kinds between the two (mutexinoutset, inoutset) are taken for `inout`, which orders more than
 * they ask for.
 */
#include <search.h>
#include <stdlib.h>

#include "hip/host/openmp_tasks.h"

struct place {
    uintptr_t address;
    struct task *last;        /* that does not only read */
    struct follower *readers; /* since then */
};

static int compare(const void *a, const void *b)
{
    const uintptr_t x = ((const struct place *)a)->address, y = ((const struct place *)b)->address;
    return (x > y) - (x < y);
}

static struct follower *link_to(struct follower *next, struct task *task)
{
    struct follower *f = malloc(sizeof(*f));
    if (!f)
        abort();
    *f = (struct follower){.next = next, .task = task};
    return f;
}

static void follow(struct task *task, struct task *before)
{
    if (!before || before->ended || before == task)
        return;
    before->followers = link_to(before->followers, task);
    task->missing++;
}

static void let_go(struct place *p)
{
    task_unuse(p->last);
    p->last = NULL;
    for (struct follower *f = p->readers, *next; f; f = next) {
        next = f->next;
        task_unuse(f->task);
        free(f);
    }
    p->readers = NULL;
}

static void write_to(struct place *p, struct task *task)
{
    follow(task, p->last);
    for (const struct follower *f = p->readers; f; f = f->next)
        follow(task, f->task);
    if (task->ended) /* it is nobody's to wait for */
        return;
    let_go(p);
    p->last = task;
    task->uses++;
}

static void read_from(struct place *p, struct task *task)
{
    follow(task, p->last);
    if (task->ended)
        return;
    p->readers = link_to(p->readers, task);
    task->uses++;
}

static void write_to_each(const void *node, VISIT visit, void *task)
{
    if (visit == postorder || visit == leaf)
        write_to(*(struct place **)node, task);
}

static void on_all(struct task *task)
{
    struct task *parent = task->parent;
    follow(task, parent->all);
    twalk_r(parent->dependences, write_to_each, task);
    if (task->ended)
        return;
    task_unuse(parent->all);
    parent->all = task;
    task->uses++;
}

static struct place *place_of(struct task *parent, uintptr_t address)
{
    const struct place key = {.address = address};
    struct place **found = tfind(&key, &parent->dependences, compare);
    if (found)
        return *found;
    struct place *p = malloc(sizeof(*p));
    if (!p)
        abort();
    *p = (struct place){.address = address, .last = parent->all};
    if (p->last)
        p->last->uses++;
    if (!tsearch(p, &parent->dependences, compare))
        abort();
    return p;
}

void depend_on(struct task *task, const struct depend *list, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (list[i].kind & DEPEND_ALL)
            on_all(task);
        else if (list[i].kind == DEPEND_IN)
            read_from(place_of(task->parent, list[i].address), task);
        else if (list[i].kind)
            write_to(place_of(task->parent, list[i].address), task);
    }
}

static void forget(void *node)
{
    let_go(node);
    free(node);
}

void depend_forget(struct task *parent)
{
    tdestroy(parent->dependences, forget);
    parent->dependences = NULL;
    task_unuse(parent->all);
    parent->all = NULL;
}
