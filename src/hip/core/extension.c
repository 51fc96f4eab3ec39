/* SPDX-License-Identifier: MIT */
/* What <hip/ehp_host.h> calls: functions that the real runtime does not have. */
#include "hip/core/runtime.h"

int ehpCpuRun(struct ehp_cpu_work *work);
int ehpMemUse(struct ehp_mem_use *use);
uint64_t ehpTimestamp(void);
ehp_machine *ehpMachine(void);

HIP_ENTRY int ehpCpuRun(struct ehp_cpu_work *work)
{
    return hip_open() == hipSuccess ? ehp_cpu_run(hip_runtime()->machine, work) : EHP_ERR_UNSUPPORTED;
}

HIP_ENTRY int ehpMemUse(struct ehp_mem_use *use)
{
    return hip_open() == hipSuccess ? ehp_mem_use(hip_runtime()->machine, use) : EHP_ERR_UNSUPPORTED;
}

HIP_ENTRY uint64_t ehpTimestamp(void)
{
    return hip_open() == hipSuccess ? ehp_timestamp(hip_runtime()->machine) : 0;
}

/* Of code that was compiled with --time-host (host/time_host.c). */
HIP_ENTRY ehp_machine *ehpMachine(void)
{
    return hip_open() == hipSuccess ? hip_runtime()->machine : NULL;
}
