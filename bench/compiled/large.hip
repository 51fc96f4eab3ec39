// SPDX-License-Identifier: MIT
// A kernel of about STEPS instructions in one block, without two that are the same: what compiling it takes.
#include <hip/hip_runtime.h>

#include <cstdio>

#define TEN(step) step step step step step step step step step step
#define STEP                                                                                                 \
    {                                                                                                        \
        enum { N = __COUNTER__ };                                                                            \
        x[N % 16] = x[N % 16] * (1 + N * 0x1p-16f) + x[(N * 7 + 3) % 16];                                    \
    }
#define NINE(step) step step step step step step step step step
#define HUNDRED    TEN(TEN(STEP))
#define THOUSAND   TEN(HUNDRED)
#ifdef LARGE /* as much as is compiled at all: 20,000 with the loads and stores */
#define STEPS TEN(THOUSAND) NINE(THOUSAND) NINE(HUNDRED)
#else
#define STEPS NINE(HUNDRED)
#endif

__global__ void large(float *p)
{
    float x[16];
    for (int i = 0; i < 16; i++)
        x[i] = p[threadIdx.x + 64 * i];
    STEPS;
    for (int i = 0; i < 16; i++)
        p[threadIdx.x + 64 * i] = x[i];
}

int main()
{
    float *p, first = 0;
    if (hipMalloc(reinterpret_cast<void **>(&p), 4096) != hipSuccess ||
        hipMemset(p, 0x3f, 4096) != hipSuccess)
        return 1;
    large<<<1, 64>>>(p);
    return hipMemcpy(&first, p, 4, hipMemcpyDeviceToHost) != hipSuccess || !(first > 0);
}
