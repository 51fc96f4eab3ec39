/* SPDX-License-Identifier: MIT */
/*
 * Every call of the interface with null for each of its pointers, and for all of them: it returns, and with
 * an error, but where null is a stream, where nothing is copied, and for the calls listed here.
 *
 * The list of calls is the one that the headers are checked against.  Arguments are laid out by hand, as the
 * System V ABI has them: six integer registers, the rest on the stack, structs over two words there as well.
 */
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "hip_check.h"

struct call {
    const char *name, *returns, *parameters;
};

static const struct call calls[] = {
#define FUNCTION(name, returns, parameters) {#name, #returns, #parameters},
#include "../headers/abi_functions.inc"
#undef FUNCTION
};

/* Calls that may succeed without one of their pointers, or all: null means something there. */
static const char *const optional[] = {
    "__hipPushCallConfiguration",
    "hipConfigureCall",
    "hipCtxSetCurrent",
    "hipDeviceGetStreamPriorityRange",
    "hipDevicePrimaryCtxGetState",
    "hipFree",
    "hipFreeHost",
    "hipHostFree",
    "hipLaunchHostFunc",
    "hipLaunchHostFunc_spt",
    "hipStreamAddCallback",
    "hipStreamAddCallback_spt",
    "hipMemGetInfo",
    "hipSetValidDevices",
};

/* What is neither pointer nor handle. */
static const struct {
    const char *type;
    unsigned words;
} plain[] = {{"dim3", 2},
             {"hipExtent", 3},
             {"hipPitchedPtr", 4},
             {"hipChannelFormatDesc", 3},
             {"hipIpcMemHandle_t", 8},
             {"hipIpcEventHandle_t", 8}};

static const char *current;

static void died(int number)
{
    static const char said[] = ": a signal ended the call\n";

    (void)number;
    if (write(2, current, strlen(current)) < 0 || write(2, said, sizeof said - 1) < 0)
        _exit(3);
    _exit(2);
}

static void call_back(void *user)
{
    (void)user;
}

enum { ARGUMENTS = 24 };

struct arguments {
    uint64_t word[ARGUMENTS], *at[ARGUMENTS];
    bool pointer[ARGUMENTS], stream[ARGUMENTS], function[ARGUMENTS];
    unsigned count, streams;
};

static bool is_pointer(const char *type, size_t length)
{
    static const char *const handles[] = {"hipStream_t",
                                          "hipEvent_t",
                                          "hipModule_t",
                                          "hipFunction_t",
                                          "hipCtx_t",
                                          "hipGraph_t",
                                          "hipGraphNode_t",
                                          "hipGraphExec_t",
                                          "hipMemPool_t",
                                          "hipArray_t",
                                          "hipArray_const_t",
                                          "hipDeviceptr_t",
                                          "hipMipmappedArray_t",
                                          "hipUserObject_t",
                                          "hipTextureObject_t",
                                          "hipSurfaceObject_t",
                                          "hipLinkState_t",
                                          "hipExternalMemory_t",
                                          "hipExternalSemaphore_t",
                                          "hipGraphicsResource_t",
                                          "hipMemGenericAllocationHandle_t",
                                          "hipMipmappedArray_const_t"};

    if (memchr(type, '*', length))
        return true;
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (length == strlen(handles[i]) && !memcmp(type, handles[i], length))
            return true;
    return false;
}

/* Where each argument lies, and whether it is a pointer. */
static void lay_out(struct arguments *arguments, const char *text)
{
    unsigned registers = 0, stack = 6;

    memset(arguments, 0, sizeof *arguments);
    for (text++; *text && *text != ')';) {
        size_t length = strcspn(text, ",)");
        unsigned words = 1, i = arguments->count++;
        if (!strncmp(text, "void)", 5))
            break;
        arguments->pointer[i] = is_pointer(text, length);
        arguments->stream[i] = length == strlen("hipStream_t") && !memcmp(text, "hipStream_t", length);
        arguments->streams += arguments->stream[i];
        for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
            if (length == strlen(plain[k].type) && !memcmp(text, plain[k].type, length))
                words = plain[k].words;
        if (words <= 2 && registers + words <= 6) {
            arguments->at[i] = &arguments->word[registers];
            registers += words;
        } else {
            arguments->at[i] = &arguments->word[stack];
            stack += words;
        }
        arguments->function[i] =
            !strncmp(text, "hipHostFn_t", 11) || !strncmp(text, "hipStreamCallback_t", 19);
        if (arguments->function[i])
            *arguments->at[i] = (uint64_t)(uintptr_t)call_back;
        text += length + (text[length] == ',' ? strlen(", ") : 0);
    }
}

typedef uint64_t any_call(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static uint64_t do_call(const char *name, const uint64_t *w)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    any_call *call;

    if (!CHECK(symbol != NULL))
        return 0;
    memcpy(&call, &symbol, sizeof call);
    current = name;
    return call(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
                w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23]);
}

static bool may(const char *name)
{
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (!strcmp(optional[i], name))
            return true;
    return false;
}

static void judge(const struct call *call, uint64_t result, int argument)
{
    if (strcmp(call->returns, "hipError_t") != 0 || (hipError_t)(int)result != hipSuccess || may(call->name))
        return;
    fprintf(stderr, "%s succeeds with nothing for argument %d\n", call->name, argument);
    CHECK(!"without an error");
}

/* Null for one pointer, empty memory for the others, one number for all that is none. */
static void fill(struct arguments *arguments, unsigned null, unsigned number)
{
    static _Alignas(64) unsigned char other[ARGUMENTS][4096];

    memset(other, 0, sizeof other);
    for (unsigned k = 0; k < arguments->count; k++)
        if (arguments->pointer[k])
            *arguments->at[k] = k == null ? 0 : (uint64_t)(uintptr_t)other[k];
        else if (!arguments->function[k])
            *arguments->at[k] = number;
}

int main(void)
{
    const struct sigaction action = {.sa_handler = died};
    struct arguments arguments;
    hipGraph_t graph;

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    OK(hipInit(0));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct call *call = &calls[i];
        unsigned pointers = 0;
        lay_out(&arguments, call->parameters);
        for (unsigned k = 0; k < arguments.count; k++)
            pointers += arguments.pointer[k];
        if (!pointers)
            continue;
        bool copies = !strncmp(call->name, "hipMemcpy", 9) || !strncmp(call->name, "hipMemset", 9);
        uint64_t result = do_call(call->name, arguments.word);
        if (!copies && pointers > arguments.streams)
            judge(call, result, -1);
        for (unsigned number = 0; pointers > 1 && number < 2; number++)
            for (unsigned null = 0; null < arguments.count; null++)
                if (arguments.pointer[null]) {
                    fill(&arguments, null, number);
                    result = do_call(call->name, arguments.word);
                    if (!arguments.stream[null] && !(copies && !number))
                        judge(call, result, (int)null);
                }
        (void)hipStreamEndCapture(hipStreamPerThread, &graph);
        OK(hipDeviceSynchronize());
    }
    return check_status();
}
