// SPDX-License-Identifier: MIT
// Global wave sync, for determinism.sh: waves of all XCDs at semaphores. Who is let through first shows in
// what it prints; how many, in whether it fails.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

enum { BLOCKS = 912, ROOM = 5, ROUNDS = 2 };

struct state {
    unsigned inside, most, arrived, passed;
    unsigned order[BLOCKS * ROUNDS], gate[BLOCKS];
};

__global__ void set_up(unsigned room)
{
    __builtin_amdgcn_ds_gws_init(room, 0);
    __builtin_amdgcn_ds_gws_init(0, 1);
}

// No more than ROOM waves are inside.
__global__ void contend(state *s)
{
    for (int round = 0; round < ROUNDS; round++) {
        __builtin_amdgcn_ds_gws_sema_p(0);
        if (threadIdx.x == 0) {
            atomicMax(&s->most, atomicAdd(&s->inside, 1u) + 1);
            s->order[atomicAdd(&s->arrived, 1u)] = blockIdx.x;
            atomicSub(&s->inside, 1u);
            __threadfence();
        }
        __builtin_amdgcn_ds_gws_sema_v(0);
    }
}

// All but one wait until that one lets some through, then all.
__global__ void wait_at_gate(state *s)
{
    if (blockIdx.x == gridDim.x / 2) {
        __builtin_amdgcn_ds_gws_sema_br(64, 1);
        while (__hip_atomic_load(&s->passed, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < 64)
            __builtin_amdgcn_s_sleep(8);
        __builtin_amdgcn_ds_gws_sema_release_all(1);
        return;
    }
    __builtin_amdgcn_ds_gws_sema_p(1);
    if (threadIdx.x == 0)
        s->gate[atomicAdd(&s->passed, 1u)] = blockIdx.x;
}

int main()
{
    state *s;
    if (hipMalloc(&s, sizeof *s) != hipSuccess || hipMemset(s, 0, sizeof *s) != hipSuccess)
        return 1;
    set_up<<<1, 64>>>(ROOM);
    contend<<<BLOCKS, 64>>>(s);
    wait_at_gate<<<BLOCKS, 64>>>(s);
    std::vector<state> result(1);
    if (hipMemcpy(result.data(), s, sizeof *s, hipMemcpyDeviceToHost) != hipSuccess)
        return 1;
    const state &r = result[0];
    std::printf("at most %u inside, %u have been, %u through the gate\n", r.most, r.arrived, r.passed);
    for (unsigned block : r.order)
        std::printf(" %u", block);
    for (unsigned block : r.gate)
        std::printf(" %u", block);
    std::printf("\n");
    return r.inside || r.most > ROOM || r.most < 2 || r.arrived != BLOCKS * ROUNDS || r.passed != BLOCKS - 1;
}
