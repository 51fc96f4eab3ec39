// SPDX-License-Identifier: MIT
// What the examples for several devices share.
#ifndef EXAMPLES_DEVICES_H
#define EXAMPLES_DEVICES_H

#include "check.h"

// Lets all devices reach each other's memory; false, with two that do not.
static inline bool enable_peers(int devices, int *from, int *to)
{
    for (*from = 0; *from < devices; ++*from)
        for (*to = 0; *to < devices; ++*to) {
            int reached;
            if (*from == *to)
                continue;
            CHECK_HIP(hipDeviceCanAccessPeer(&reached, *from, *to));
            if (!reached)
                return false;
            CHECK_HIP(hipSetDevice(*from));
            CHECK_HIP(hipDeviceEnablePeerAccess(*to, 0));
        }
    return true;
}

__global__ void wait_for_gate(unsigned *open)
{
    while (__hip_atomic_load(open, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
        __builtin_amdgcn_s_sleep(1);
}

// Holds back the streams of all devices until the host has issued everything, so that they begin together.
class gate
{
    hipStream_t stream_;
    hipEvent_t opened_;
    unsigned *open_;

  public:
    gate()
    {
        CHECK_HIP(hipSetDevice(0));
        CHECK_HIP(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
        CHECK_HIP(hipEventCreateWithFlags(&opened_, hipEventDisableTiming));
        CHECK_HIP(hipHostMalloc(&open_, sizeof *open_, 0));
    }
    gate(const gate &) = delete;
    gate &operator=(const gate &) = delete;
    ~gate()
    {
        CHECK_HIP(hipStreamDestroy(stream_));
        CHECK_HIP(hipEventDestroy(opened_));
        CHECK_HIP(hipHostFree(open_));
    }
    void close()
    {
        *open_ = 0;
        CHECK_HIP(hipSetDevice(0));
        wait_for_gate<<<1, 1, 0, stream_>>>(open_);
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipEventRecord(opened_, stream_));
    }
    void hold(hipStream_t stream)
    {
        CHECK_HIP(hipStreamWaitEvent(stream, opened_, 0));
    }
    void open()
    {
        __atomic_store_n(open_, 1, __ATOMIC_RELEASE);
    }
};

#endif
