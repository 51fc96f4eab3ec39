/* SPDX-License-Identifier: MIT */
/* What <hip/ehp_host.h> calls: functions that the real runtime does not have. */
#include "hip/core/runtime.h"
#include "hip/observe/advise.h"

int ehpCpuRun(struct ehp_cpu_work *work);
int ehpMemUse(struct ehp_mem_use *use);
uint64_t ehpTimestamp(void);
ehp_machine *ehpMachine(void);
ehp_machine *ehpMachineIfOpen(void);
void ehpAdviseRegion(const void *team, const void *code, unsigned cores, bool begins, uint64_t ps);

/* What its host is, the chip file does not say. */
static void say_no_cores(ehp_machine *machine)
{
    struct ehp_chip_value ccds = {.size = sizeof ccds}, title = {.size = sizeof title};
    if (!hip_runtime()->timing || ehp_chip_value(machine, "ccd.count", &ccds) != EHP_OK || ccds.number > 0 ||
        ehp_chip_value(machine, "chip.title", &title) != EHP_OK ||
        atomic_exchange(&hip_runtime()->said_no_cores, true))
        return;
    hip_say("%s has no CPU cores in its package: host code takes no simulated time", title.text);
}

HIP_ENTRY int ehpCpuRun(struct ehp_cpu_work *work)
{
    ehp_machine *machine = hip_open_machine();
    if (!machine)
        return EHP_ERR_UNSUPPORTED;
    const bool advise = hip_runtime()->advise && hip_runtime()->timing;
    if (advise)
        hip_advise_cpu_begins();
    int status = ehp_cpu_run(machine, work);
    if (status == EHP_ERR_UNSUPPORTED)
        say_no_cores(machine);
    if (advise && status == EHP_OK)
        hip_advise_cpu_ended(work);
    return status;
}

HIP_ENTRY int ehpMemUse(struct ehp_mem_use *use)
{
    ehp_machine *machine = hip_open_machine();
    return machine ? ehp_mem_use(machine, use) : EHP_ERR_UNSUPPORTED;
}

HIP_ENTRY uint64_t ehpTimestamp(void)
{
    ehp_machine *machine = hip_open_machine();
    return machine ? ehp_timestamp(machine) : 0;
}

/* Of code that was compiled with --time-host (host/time_host.c). */
HIP_ENTRY ehp_machine *ehpMachine(void)
{
    ehp_machine *machine = hip_open_machine();
    if (machine)
        say_no_cores(machine);
    return machine;
}

/* NULL: no call of HIP's has opened it yet, or could; for those who would rather wait for that. */
HIP_ENTRY ehp_machine *ehpMachineIfOpen(void)
{
    struct hip_runtime *runtime = hip_runtime();
    return atomic_load(&runtime->state) && !runtime->forked ? runtime->machine : NULL;
}

/* A parallel region of such code. */
HIP_ENTRY void ehpAdviseRegion(const void *team, const void *code, unsigned cores, bool begins, uint64_t ps)
{
    if (!hip_open_machine() || !hip_runtime()->advise || !hip_runtime()->timing)
        return;
    if (begins)
        hip_advise_region_begins(team, ps);
    else
        hip_advise_region_ended(team, code, cores, ps);
}
