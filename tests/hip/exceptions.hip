// SPDX-License-Identifier: MIT
// Float exceptions: kernels that read TRAPSTS, that enable exceptions in MODE, and whose descriptor enables
// them.
#include "check_hip.h"

#include <elf.h>
#include <hip/hiprtc.h>
#include <string.h>
#include <string>

enum { DIVISION = 4, OVERFLOW = 8, INEXACT = 32 };

#define HWREG(id, low, bits) ((id) | (low) << 6 | ((bits) - 1) << 11)

__device__ __attribute__((noinline)) float quotient(float a, float b)
{
    return a / b;
}

__global__ void record(unsigned *raised, float *result, float a, float b)
{
    result[threadIdx.x] = quotient(a, threadIdx.x == 3 ? b : 1.0f);
    // A store before reading keeps the compiler from reading first.
    __builtin_amdgcn_s_waitcnt(0);
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_TRAPSTS, 0, 7)"
                 : "=s"(raised[0])
                 : "v"(result[threadIdx.x])
                 : "memory");
}

__global__ void trap_division(float *result, float a, float b)
{
    __builtin_amdgcn_s_setreg(HWREG(1, 12, 7), DIVISION);
    result[threadIdx.x] = quotient(a, b);
}

static unsigned recorded(float a, float b)
{
    unsigned *raised, seen = 0;
    float *result;
    HIP_OK(hipMalloc(&raised, 64 * sizeof(unsigned)));
    HIP_OK(hipMalloc(&result, 64 * sizeof(float)));
    record<<<1, 64>>>(raised, result, a, b);
    HIP_OK(hipMemcpy(&seen, raised, sizeof(seen), hipMemcpyDeviceToHost));
    HIP_OK(hipFree(raised));
    HIP_OK(hipFree(result));
    return seen;
}

// A kernel whose descriptor is changed to enable division by zero: bit 26 of compute_pgm_rsrc2, its 14th
// dword.
static std::string divide_module(bool enabled)
{
    const char *source = "extern \"C\" __global__ void divide(float *r, float a, float b) { r[0] = a / b; }";
    hiprtcProgram program;
    size_t bytes = 0;
    CHECK(hiprtcCreateProgram(&program, source, "divide.hip", 0, nullptr, nullptr) == HIPRTC_SUCCESS,
          "create");
    CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_SUCCESS, "compile");
    CHECK(hiprtcGetCodeSize(program, &bytes) == HIPRTC_SUCCESS, "size");
    std::string code(bytes, '\0');
    CHECK(hiprtcGetCode(program, &code[0]) == HIPRTC_SUCCESS, "code");
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS, "destroy");

    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)&code[0];
    CHECK(memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0, "the code object is no ELF file");
    const Elf64_Shdr *sections = (const Elf64_Shdr *)&code[elf->e_shoff];
    bool found = false;
    for (int i = 0; i < elf->e_shnum && !found; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const char *names = &code[sections[sections[i].sh_link].sh_offset];
        const Elf64_Sym *symbols = (const Elf64_Sym *)&code[sections[i].sh_offset];
        for (size_t k = 0; k < sections[i].sh_size / sizeof(*symbols) && !found; k++)
            if (strcmp(names + symbols[k].st_name, "divide.kd") == 0) {
                const Elf64_Shdr *in = &sections[symbols[k].st_shndx];
                unsigned *descriptor = (unsigned *)&code[in->sh_offset + symbols[k].st_value - in->sh_addr];
                descriptor[13] |= enabled ? 1u << 26 : 0;
                found = true;
            }
    }
    CHECK(found, "no kernel descriptor");
    return code;
}

static hipError_t divide(bool enabled)
{
    std::string code = divide_module(enabled);
    hipModule_t module;
    hipFunction_t function;
    float *result, a = 1, b = 0;
    HIP_OK(hipMalloc(&result, sizeof(float)));
    HIP_OK(hipModuleLoadData(&module, code.data()));
    HIP_OK(hipModuleGetFunction(&function, module, "divide"));
    void *arguments[] = {&result, &a, &b};
    HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    return hipDeviceSynchronize();
}

int main()
{
    unsigned seen = recorded(1.0f, 2.0f);
    CHECK((seen & (DIVISION | OVERFLOW)) == 0, "1 / 2 raises 0x%x", seen);
    seen = recorded(1.0f, 0.0f);
    CHECK((seen & (DIVISION | OVERFLOW)) == DIVISION, "1 / 0 raises 0x%x", seen);
    seen = recorded(3e38f, 1e-38f);
    CHECK((seen & (DIVISION | OVERFLOW | INEXACT)) == (OVERFLOW | INEXACT), "3e38 / 1e-38 raises 0x%x", seen);

    float *result;
    HIP_OK(hipMalloc(&result, 64 * sizeof(float)));
    trap_division<<<1, 64>>>(result, 1.0f, 3.0f);
    HIP_OK(hipDeviceSynchronize());
    trap_division<<<1, 64>>>(result, 1.0f, 0.0f);
    hipError_t got = hipDeviceSynchronize();
    CHECK(got == hipErrorLaunchFailure, "an enabled exception: %s", hipGetErrorName(got));
    HIP_OK(hipDeviceReset());

    got = divide(false);
    CHECK(got == hipSuccess, "a descriptor that enables nothing: %s", hipGetErrorName(got));
    got = divide(true);
    CHECK(got == hipErrorLaunchFailure, "a descriptor that enables division by zero: %s",
          hipGetErrorName(got));
    HIP_OK(hipDeviceReset());
    return check_done();
}
