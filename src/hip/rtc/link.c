/* SPDX-License-Identifier: MIT */
/* hipLink*: hipRTC's linker with HIP's errors; states are the same objects. */
#include "hip/rtc/hiprtc.h"
#include "hip/core/runtime.h"

static hipError_t link_error(hiprtcResult result)
{
    switch (result) {
    case HIPRTC_SUCCESS:
        return hipSuccess;
    case HIPRTC_ERROR_OUT_OF_MEMORY:
        return hipErrorOutOfMemory;
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: /* of a file that is not there */
        return hipErrorFileNotFound;
    case HIPRTC_ERROR_LINKING:
        return hipErrorInvalidImage;
    case HIPRTC_ERROR_INVALID_INPUT:
    case HIPRTC_ERROR_INVALID_OPTION:
        return hipErrorInvalidValue;
    default:
        return hipErrorUnknown;
    }
}

HIP_ENTRY hipError_t hipLinkCreate(unsigned int numOptions, hipJitOption *options, void **optionValues,
                                   hipLinkState_t *stateOut)
{
    return hip_return(
        link_error(hiprtcLinkCreate(numOptions, (int *)options, optionValues, (hiprtcLinkState *)stateOut)));
}

HIP_ENTRY hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void *data, size_t size,
                                    const char *name, unsigned int numOptions, hipJitOption *options,
                                    void **optionValues)
{
    return hip_return(link_error(hiprtcLinkAddData((hiprtcLinkState)state, (int)type, data, size, name,
                                                   numOptions, (int *)options, optionValues)));
}

HIP_ENTRY hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char *path,
                                    unsigned int numOptions, hipJitOption *options, void **optionValues)
{
    return hip_return(link_error(hiprtcLinkAddFile((hiprtcLinkState)state, (int)type, path, numOptions,
                                                   (int *)options, optionValues)));
}

HIP_ENTRY hipError_t hipLinkComplete(hipLinkState_t state, void **hipBinOut, size_t *sizeOut)
{
    return hip_return(link_error(hiprtcLinkComplete((hiprtcLinkState)state, hipBinOut, sizeOut)));
}

HIP_ENTRY hipError_t hipLinkDestroy(hipLinkState_t state)
{
    return hip_return(link_error(hiprtcLinkDestroy((hiprtcLinkState)state)));
}
