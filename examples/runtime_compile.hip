// SPDX-License-Identifier: MIT
// hipRTC: compile a kernel from a string while the program runs, with a constant chosen at that time, and
// launch it through the module interface.
#include "check.h"

#include <hip/hiprtc.h>

#include <string>
#include <vector>

static const char source[] = R"(
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + OFFSET;
}
)";

int main()
{
    hiprtcProgram program;
    if (hiprtcCreateProgram(&program, source, "saxpy.hip", 0, nullptr, nullptr) != HIPRTC_SUCCESS)
        return report(false, "hiprtcCreateProgram");
    const char *options[] = {"-DOFFSET=0.25f", "-O2"};
    hiprtcResult compiled = hiprtcCompileProgram(program, 2, options);
    if (compiled != HIPRTC_SUCCESS) {
        size_t size = 0;
        hiprtcGetProgramLogSize(program, &size);
        std::string log(size, ' ');
        hiprtcGetProgramLog(program, &log[0]);
        return report(false, "%s: %s", hiprtcGetErrorString(compiled), log.c_str());
    }
    size_t size = 0;
    hiprtcGetCodeSize(program, &size);
    std::vector<char> code(size);
    hiprtcGetCode(program, code.data());
    hiprtcDestroyProgram(&program);

    hipModule_t module;
    hipFunction_t function;
    CHECK_HIP(hipModuleLoadData(&module, code.data()));
    CHECK_HIP(hipModuleGetFunction(&function, module, "saxpy"));
    int n = 10000;
    float a = 3.0f, *x, *y;
    CHECK_HIP(hipMallocManaged(&x, static_cast<size_t>(n) * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&y, static_cast<size_t>(n) * sizeof(float)));
    for (int i = 0; i < n; i++)
        x[i] = static_cast<float>(i);
    void *arguments[] = {&a, &x, &y, &n};
    CHECK_HIP(hipModuleLaunchKernel(function, static_cast<unsigned>(n + 255) / 256, 1, 1, 256, 1, 1, 0,
                                    nullptr, arguments, nullptr));
    CHECK_HIP(hipDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != 3.0f * static_cast<float>(i) + 0.25f;
    CHECK_HIP(hipFree(x));
    CHECK_HIP(hipFree(y));
    CHECK_HIP(hipModuleUnload(module));
    return report(wrong == 0, "%zu bytes of code compiled and loaded, %d wrong", size, wrong);
}
