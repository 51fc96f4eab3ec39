// SPDX-License-Identifier: MIT
// Linking bitcode of two sources at run time: plain, in an offload bundle, in an archive of bundles.
#include <hip/hiprtc.h>

#include <string>

#include "check_hip.h"

static std::string compile(const char *source)
{
    const char *options[] = {"-fgpu-rdc"};
    hiprtcProgram program;
    size_t bytes = 0;
    CHECK(hiprtcCreateProgram(&program, source, "part.hip", 0, nullptr, nullptr) == HIPRTC_SUCCESS, "create");
    CHECK(hiprtcCompileProgram(program, 1, options) == HIPRTC_SUCCESS, "compile");
    CHECK(hiprtcGetBitcodeSize(program, &bytes) == HIPRTC_SUCCESS, "size");
    std::string code(bytes, 0);
    CHECK(hiprtcGetBitcode(program, &code[0]) == HIPRTC_SUCCESS, "bitcode");
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS, "destroy");
    return code;
}

static void number(std::string &text, size_t value)
{
    text.append(reinterpret_cast<const char *>(&value), 8);
}

static std::string bundle(const std::string &code)
{
    const std::string host = "host-x86_64-unknown-linux--", device = "hip-amdgcn-amd-amdhsa--gfx942";
    const size_t header = 24 + 8 + 2 * 24 + host.size() + device.size();
    std::string text = "__CLANG_OFFLOAD_BUNDLE__";
    number(text, 2);
    number(text, header);
    number(text, 0);
    number(text, host.size());
    text += host;
    number(text, header);
    number(text, code.size());
    number(text, device.size());
    return text + device + code;
}

static std::string archive(const std::string &member)
{
    char head[61];
    std::snprintf(head, sizeof head, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "part.o/", "0", "0", "0", "644",
                  member.size());
    return "!<arch>\n" + std::string(head) + member + (member.size() & 1 ? "\n" : "");
}

static void link(std::string caller, std::string callee, hipJitInputType type)
{
    const char *flags[] = {"-mllvm", "-inline-threshold=1"};
    hipJitOption names[] = {hipJitOptionIRtoISAOptExt, hipJitOptionIRtoISAOptCountExt};
    void *values[] = {flags, reinterpret_cast<void *>(2)};
    hipLinkState_t state;
    void *code;
    size_t bytes;
    HIP_OK(hipLinkCreate(2, names, values, &state));
    HIP_OK(hipLinkAddData(state, hipJitInputLLVMBitcode, &caller[0], caller.size(), "caller", 0, nullptr,
                          nullptr));
    HIP_OK(hipLinkAddData(state, type, &callee[0], callee.size(), "callee", 0, nullptr, nullptr));
    HIP_OK(hipLinkComplete(state, &code, &bytes));

    hipModule_t module;
    hipFunction_t function;
    buffer<int> value(1, 21);
    int *pointer = value.get();
    void *arguments[] = {&pointer};
    HIP_OK(hipModuleLoadData(&module, code));
    HIP_OK(hipModuleGetFunction(&function, module, "call"));
    HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    value.down();
    CHECK(value[0] == 42, "%d", value[0]);
    HIP_OK(hipModuleUnload(module));
    HIP_OK(hipLinkDestroy(state));
}

int main()
{
    const std::string caller = compile("extern __device__ int twice(int);\n"
                                       "extern \"C\" __global__ void call(int *p) { *p = twice(*p); }\n");
    // Half precision is there without an include, as in ROCm's hipRTC.
    const std::string callee = compile(
        "__device__ int twice(int x) { __half h = __float2half(x); return (int)__half2float(h + h); }\n");
    link(caller, callee, hipJitInputLLVMBitcode);
    link(caller, bundle(callee), hipJitInputLLVMBundledBitcode);
    link(caller, archive(bundle(callee)), hipJitInputLLVMArchivesOfBundledBitcode);

    hipLinkState_t state;
    void *code;
    size_t bytes;
    HIP_OK(hipLinkCreate(0, nullptr, nullptr, &state));
    CHECK(hipLinkComplete(state, &code, &bytes) == hipErrorInvalidValue, "nothing to link");
    CHECK(hipLinkAddFile(state, hipJitInputLLVMBitcode, "/none", 0, nullptr, nullptr) == hipErrorFileNotFound,
          "no file");
    std::string text = "not a bundle, not an archive and not bitcode either";
    CHECK(hipLinkAddData(state, hipJitInputLLVMBundledBitcode, &text[0], text.size(), "", 0, nullptr,
                         nullptr) == hipErrorInvalidValue,
          "no bundle");
    CHECK(hipLinkAddData(state, hipJitInputPtx, &text[0], text.size(), "", 0, nullptr, nullptr) ==
              hipErrorInvalidValue,
          "PTX");
    HIP_OK(hipLinkDestroy(state));
    CHECK(hipLinkDestroy(nullptr) == hipErrorInvalidValue, "no state");
    return check_done();
}
