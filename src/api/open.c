/* SPDX-License-Identifier: MIT */
/* Opening and closing machines, and what the library says of itself. */
#include "api/api.h"

#include <stdlib.h>

#include "hsa/hsa.h"
#include "wave/fault.h"

const char *ehp_version(void)
{
    return "0.1.0";
}

const char *ehp_status_name(int status)
{
    switch (status) {
    case EHP_OK:
        return "ok";
    case EHP_ERR_INVALID:
        return "invalid argument";
    case EHP_ERR_NO_MEMORY:
        return "out of memory";
    case EHP_ERR_NOT_FOUND:
        return "not found";
    case EHP_ERR_BAD_CHIP:
        return "bad chip file";
    case EHP_ERR_BAD_IMAGE:
        return "bad code object";
    case EHP_ERR_WRONG_ISA:
        return "code object for another processor";
    case EHP_ERR_UNSUPPORTED:
        return "not supported";
    case EHP_ERR_OUT_OF_RESOURCES:
        return "out of resources";
    case EHP_ERR_TIMEOUT:
        return "timeout";
    case EHP_ERR_FAULT:
        return "queue inactive after a fault";
    default:
        return "unknown status";
    }
}

const char *ehp_error_text(ehp_machine *m)
{
    const char *text = pthread_getspecific(m->error_key);
    return text ? text : "";
}

int ehp_open(struct ehp_options *options, ehp_machine **out)
{
    static const struct cp_listener listener = {
        .report_wave = report_wave,
        .report_beyond = report_beyond,
        .report = report_text,
        .faulted = report_to_handler,
        .progressed = progress_show,
        .completed = stats_completed,
    };
    *out = NULL;
    struct stats *stats = stats_open();
    if (!stats)
        return EHP_ERR_NO_MEMORY;
    struct ehp_machine *m;
    int status = machine_open(options, &listener, &m);
    if (status != EHP_OK) {
        stats_close(stats);
        return status;
    }
    m->stats = stats;
    fault_install(); /* its threads may not have come to it yet */
    fault_watch(bounds_mend_host, report_host_fault, &m->cp);
    *out = m;
    return EHP_OK;
}

void ehp_close(ehp_machine *m)
{
    if (!m)
        return;
    fault_unwatch(&m->cp);
    machine_stop(m);
    while (m->cp.queues)
        ehp_queue_destroy(&m->cp.queues->block);
    while (m->codes.count)
        ehp_code_unload(m->codes.code[m->codes.count - 1]);
    signal_free_all(m);
    stats_close(m->stats);
    machine_close(m);
}

uint64_t ehp_work_left(ehp_machine *m, char *text, size_t bytes)
{
    return cp_work_left(&m->cp, text, bytes);
}
