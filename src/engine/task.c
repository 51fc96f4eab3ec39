/* SPDX-License-Identifier: MIT */
/* Copies, fills and host functions; see task.h. */
#include "engine/task.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "cp/cp.h"
#include "engine/engine.h"
#include "wave/fault.h"

/* ---- requests ---- */

static void fill(void *to, uint64_t value, uint64_t element, uint64_t count)
{
    switch (element) {
    case 1:
        memset(to, (int)(value & 0xff), (size_t)count);
        break;
    case 2:
        for (uint64_t i = 0; i < count; i++)
            ((uint16_t *)to)[i] = (uint16_t)value;
        break;
    case 4:
        for (uint64_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = (uint32_t)value;
        break;
    default:
        for (uint64_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = value;
        break;
    }
}

static void run_request(const struct ehp_agent_dispatch_packet *p)
{
    if ((p->header & 0xff) != EHP_PACKET_AGENT_DISPATCH)
        return; /* a barrier */
    switch (p->type) {
    case EHP_AGENT_COPY:
        memmove((void *)(uintptr_t)p->arg[0], (const void *)(uintptr_t)p->arg[1], (size_t)p->arg[2]);
        break;
    case EHP_AGENT_FILL:
        fill((void *)(uintptr_t)p->arg[0], p->arg[1], p->arg[2], p->arg[3]);
        break;
    case EHP_AGENT_COPY_3D: {
        const struct ehp_copy_3d *c = (const struct ehp_copy_3d *)(uintptr_t)p->arg[0];
        for (uint64_t z = 0; z < c->depth; z++)
            for (uint64_t y = 0; y < c->height; y++)
                memmove((char *)c->dst + z * c->dst_slice + y * c->dst_pitch,
                        (const char *)c->src + z * c->src_slice + y * c->src_pitch, (size_t)c->width);
        break;
    }
    case EHP_AGENT_FILL_3D: {
        const struct ehp_fill_3d *f = (const struct ehp_fill_3d *)(uintptr_t)p->arg[0];
        for (uint64_t z = 0; z < f->depth; z++)
            for (uint64_t y = 0; y < f->height; y++)
                fill((char *)f->dst + z * f->slice + y * f->pitch, f->value, f->element, f->width);
        break;
    }
    case EHP_AGENT_CALL:
        ((void (*)(void *))(uintptr_t)p->arg[0])((void *)(uintptr_t)p->arg[1]);
        break;
    default:
        break;
    }
}

static void describe_request(const struct ehp_agent_dispatch_packet *p, char *text, size_t bytes)
{
    const void *to = (const void *)(uintptr_t)p->arg[0], *from = (const void *)(uintptr_t)p->arg[1];
    if (p->type == EHP_AGENT_COPY_3D) {
        const struct ehp_copy_3d *c = to;
        snprintf(text, bytes, "in a copy of %llu x %llu x %llu bytes from %p to %p",
                 (unsigned long long)c->width, (unsigned long long)c->height, (unsigned long long)c->depth,
                 c->src, c->dst);
    } else if (p->type == EHP_AGENT_FILL_3D) {
        const struct ehp_fill_3d *f = to;
        snprintf(text, bytes, "in a fill of %llu x %llu x %llu elements of %llu bytes at %p",
                 (unsigned long long)f->width, (unsigned long long)f->height, (unsigned long long)f->depth,
                 (unsigned long long)f->element, f->dst);
    } else if (p->type == EHP_AGENT_COPY) {
        snprintf(text, bytes, "in a copy of %llu bytes from %p to %p", (unsigned long long)p->arg[2], from,
                 to);
    } else {
        const unsigned long long size = p->arg[2] * p->arg[3];
        snprintf(text, bytes, "in a fill of %llu bytes at %p", size, to);
    }
}

void task_fault(struct cp_task *task, uint64_t address, bool write)
{
    struct ehp_fault fault = {.size = sizeof(fault),
                              .kind = EHP_FAULT_MEMORY,
                              .address = address,
                              .write = write,
                              .lane = UINT_MAX};
    const struct ehp_agent_dispatch_packet *p = &task->packet;
    char detail[160];
    describe_request(p, detail, sizeof(detail));
    cp_report(task->queue->cp, &fault, detail);
    pthread_mutex_lock(&task->queue->cp->lock);
    cp_queue_fault(task->queue, &fault);
    pthread_mutex_unlock(&task->queue->cp->lock);
}

void task_run(struct cp_task *task, struct wave_guard *guard)
{
    static const struct xinst copy = {0}; /* no wave's */
    if (!guard) {
        run_request(&task->packet);
        return;
    }
    guard->armed = true;
    guard->in = &copy;
    if (sigsetjmp(guard->env, 0) == 0)
        run_request(&task->packet);
    else
        task_fault(task, guard->address, guard->write);
    guard->armed = false;
    guard->in = NULL;
}

void task_done(struct cp_task *task, uint64_t start_ns)
{
    struct cp *cp = task->queue->cp;
    pthread_mutex_lock(&cp->lock);
    cp_packet_done(task->queue, task->packet.completion_signal, start_ns);
    cp->engine->ops->completed(cp->engine);
    pthread_mutex_unlock(&cp->lock);
    free(task);
}

void task_free_all(struct cp_task *list)
{
    for (struct cp_task *t = list, *next; t; t = next) {
        next = t->next;
        free(t);
    }
}

/* ---- host functions ---- */

/* Their signals are the program's, and what they start inherits them. */
static void call(const struct caller *c, struct cp_task *task)
{
    sigset_t ours;
    pthread_sigmask(SIG_SETMASK, &c->program_signals, &ours);
    task_run(task, NULL);
    pthread_sigmask(SIG_SETMASK, &ours, NULL);
}

static void *caller_main(void *argument)
{
    struct caller *c = argument;
    struct cp *cp = c->engine->cp;
    pthread_mutex_lock(&cp->lock);
    while (!c->quit) {
        struct cp_task *task = c->tasks;
        if (!task) {
            pthread_cond_wait(&c->ready, &cp->lock);
            continue;
        }
        c->tasks = task->next;
        if (!c->tasks)
            c->end = &c->tasks;
        pthread_mutex_unlock(&cp->lock);
        call(c, task);
        c->engine->ops->called(c->engine, task);
        pthread_mutex_lock(&cp->lock);
    }
    pthread_mutex_unlock(&cp->lock);
    return NULL;
}

int caller_start(struct caller *c, struct engine *engine)
{
    *c = (struct caller){.engine = engine};
    c->end = &c->tasks;
    pthread_sigmask(SIG_SETMASK, NULL, &c->program_signals);
    pthread_cond_init(&c->ready, NULL);
    c->started = thread_start(&c->thread, caller_main, c) == 0;
    return c->started ? EHP_OK : EHP_ERR_OUT_OF_RESOURCES;
}

void caller_stop(struct caller *c)
{
    if (!c->engine)
        return;
    struct cp *cp = c->engine->cp;
    pthread_mutex_lock(&cp->lock);
    c->quit = true;
    pthread_cond_signal(&c->ready);
    pthread_mutex_unlock(&cp->lock);
    if (c->started)
        pthread_join(c->thread, NULL);
    task_free_all(c->tasks);
    pthread_cond_destroy(&c->ready);
}

void caller_add(struct caller *c, struct cp_task *tasks)
{
    *c->end = tasks;
    while (*c->end)
        c->end = &(*c->end)->next;
    pthread_cond_signal(&c->ready);
}
