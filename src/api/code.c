/* SPDX-License-Identifier: MIT */
/* Loading and unloading code objects. */
#include "api/api.h"
#include "exec/observe.h"
#include "wave/fault.h"

static void *code_memory(void *context, unsigned agent, uint64_t bytes, uint64_t align)
{
    struct ehp_machine *m = context;
    int status;
    return memory_alloc(&m->memory, agent, EHP_MEM_CODE, bytes, align, &status);
}

static void code_memory_free(void *context, void *base)
{
    struct ehp_machine *m = context;
    memory_free(&m->memory, base);
}

static bool observes_exceptions(const struct ehp_code *code)
{
    for (unsigned i = 0; i < code->kernel_count; i++)
        if (kd_exceptions(code->kernels[i].descriptor))
            return true;
    for (unsigned i = 0; i < code->executable_count; i++) {
        const struct code_range *range = &code->executable[i];
        if (exec_observes(code->isa, (const uint32_t *)(uintptr_t)range->start,
                          (range->end - range->start) / 4))
            return true;
    }
    return false;
}

int ehp_code_load(ehp_machine *m, unsigned agent, const void *image, size_t bytes, ehp_code **out)
{
    if (agent >= m->agents || !image)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u, or no image", agent);
    engine_arrive(m->cp.engine);
    struct code_error error = {0};
    struct code_params params = {
        .allocator = {.context = m, .alloc = code_memory, .free = code_memory_free, .agent = agent},
        .isa = m->isa,
        .error = &error,
    };
    struct ehp_code *code;
    fault_install(); /* the image may be in a mapped file that was cut off */
    int status = code_load(&params, image, bytes, &code);
    if (status != EHP_OK)
        return machine_error(m, status, "%s", error.text);
    code->machine = m;
    code->agent = agent;
    code->observes_exceptions = observes_exceptions(code);
    if (!code_list_add(&m->codes, code)) {
        code_destroy(code);
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a code object");
    }
    *out = code;
    return EHP_OK;
}

void ehp_code_unload(ehp_code *code)
{
    if (!code)
        return;
    struct ehp_machine *m = code->machine;
    engine_arrive(m->cp.engine);
    code_list_remove(&m->codes, code);
    uint64_t start = (uint64_t)(uintptr_t)code->base;
    exec_code_drop(&m->code, start, start + code->bytes);
    code_destroy(code);
}
