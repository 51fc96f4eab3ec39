/* SPDX-License-Identifier: MIT */
/* What a stream is asked for, and told, besides work: its id, and attributes (HIP 7.0). */
#include "hip/stream/stream.h"

HIP_ENTRY hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *streamId)
{
    struct ihipStream_t *found;

    if (!streamId)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_stream_of(stream, &found);
    if (error == hipSuccess)
        *streamId = found->id;
    return hip_return(error);
}

bool hip_window_ok(const hipAccessPolicyWindow *window)
{
    return window->hitRatio >= 0 && window->hitRatio <= 1 && window->missProp != hipAccessPropertyPersisting;
}

static hipError_t attribute_set(struct ihipStream_t *stream, hipStreamAttrID attr,
                                const hipStreamAttrValue *value)
{
    switch (attr) {
    case hipStreamAttributeAccessPolicyWindow:
        if (!hip_window_ok(&value->accessPolicyWindow))
            return hipErrorInvalidValue;
        stream->hints.window = value->accessPolicyWindow;
        return hipSuccess;
    case hipStreamAttributeSynchronizationPolicy:
        if (value->syncPolicy < hipSyncPolicyAuto || value->syncPolicy > hipSyncPolicyBlockingSync)
            return hipErrorInvalidValue;
        stream->hints.sync = value->syncPolicy;
        return hipSuccess;
    case hipStreamAttributePriority: /* of the queue that its first operation takes */
        if (value->priority < -1 || value->priority > 1)
            return hipErrorInvalidValue;
        stream->priority = value->priority;
        return hipSuccess;
    case hipStreamAttributeMemSyncDomainMap:
        stream->hints.domains = value->memSyncDomainMap;
        return hipSuccess;
    case hipStreamAttributeMemSyncDomain:
        if (value->memSyncDomain != hipLaunchMemSyncDomainDefault &&
            value->memSyncDomain != hipLaunchMemSyncDomainRemote)
            return hipErrorInvalidValue;
        stream->hints.domain = value->memSyncDomain;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

static hipError_t attribute_get(const struct ihipStream_t *stream, hipStreamAttrID attr,
                                hipStreamAttrValue *value)
{
    switch (attr) {
    case hipStreamAttributeAccessPolicyWindow:
        value->accessPolicyWindow = stream->hints.window;
        return hipSuccess;
    case hipStreamAttributeSynchronizationPolicy:
        value->syncPolicy = stream->hints.sync;
        return hipSuccess;
    case hipStreamAttributePriority:
        value->priority = stream->priority;
        return hipSuccess;
    case hipStreamAttributeMemSyncDomainMap:
        value->memSyncDomainMap = stream->hints.domains;
        return hipSuccess;
    case hipStreamAttributeMemSyncDomain:
        value->memSyncDomain = stream->hints.domain;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

HIP_ENTRY hipError_t hipStreamSetAttribute(hipStream_t stream, hipStreamAttrID attr,
                                           const hipStreamAttrValue *value)
{
    struct ihipStream_t *found;
    hipError_t error = value ? hip_stream_of(stream, &found) : hipErrorInvalidValue;

    return hip_return(error == hipSuccess ? attribute_set(found, attr, value) : error);
}

HIP_ENTRY hipError_t hipStreamGetAttribute(hipStream_t stream, hipStreamAttrID attr,
                                           hipStreamAttrValue *value_out)
{
    struct ihipStream_t *found;
    hipError_t error = value_out ? hip_stream_of(stream, &found) : hipErrorInvalidValue;

    return hip_return(error == hipSuccess ? attribute_get(found, attr, value_out) : error);
}
