/* SPDX-License-Identifier: MIT */
/* What there is to execute instructions with, and what the compiled engine has done. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "jit/jit.h"

int ehp_engine_info(struct ehp_engine_info *info)
{
    if (!info || info->size != sizeof(*info))
        return EHP_ERR_INVALID;
    info->handlers = exec_code_level();
    info->compiled = jit_available(info->handlers, info->text, sizeof(info->text));
    return EHP_OK;
}

static int no_compiled_engine(ehp_machine *m)
{
    return machine_error(m, EHP_ERR_UNSUPPORTED, "this machine has no compiled engine");
}

int ehp_compiled(ehp_machine *m, struct ehp_compiled *out)
{
    if (!m->jit)
        return no_compiled_engine(m);
    const struct jit_totals totals = jit_totals(m->jit);
    const struct ehp_compiled done = {
        .size = out->size < sizeof(done) ? out->size : sizeof(done),
        .functions = totals.functions,
        .from_cache = totals.from_cache,
        .refused = totals.refused,
        .instructions = totals.instructions,
        .ns = totals.nanoseconds,
    };
    memcpy(out, &done, done.size);
    return EHP_OK;
}

static void name_function(ehp_machine *m, uint64_t start, char *text, size_t size)
{
    const char *name = NULL;
    pthread_rwlock_rdlock(&m->codes.lock);
    const struct ehp_code *code = start ? code_list_find(&m->codes, start) : NULL;
    if (code)
        code_function_at(code, start, NULL, NULL, &name);
    snprintf(text, size, "%s", name ? name : "");
    pthread_rwlock_unlock(&m->codes.lock);
}

int ehp_refused_at(ehp_machine *m, unsigned index, struct ehp_refused *out)
{
    struct jit_refused refused;
    if (!m->jit)
        return no_compiled_engine(m);
    if (!jit_refused(m->jit, index, &refused))
        return machine_error(m, EHP_ERR_NOT_FOUND, "no refused function has the number %u", index);
    struct ehp_refused shown = {.size = out->size < sizeof(shown) ? out->size : sizeof(shown)};
    name_function(m, refused.start, shown.name, sizeof(shown.name));
    snprintf(shown.why, sizeof(shown.why), "%s", refused.why);
    memcpy(out, &shown, shown.size);
    return EHP_OK;
}
