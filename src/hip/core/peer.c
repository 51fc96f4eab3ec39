/* SPDX-License-Identifier: MIT */
/* Peer access: all devices see all memory, of their package and of others; enabling is only bookkeeping. */
#include "hip/core/device.h"

static hipError_t peer_pair(int a, int b, struct hip_device **first)
{
    struct hip_device *second;
    hipError_t error = hip_device_at(a, first);

    return error == hipSuccess ? hip_device_at(b, &second) : error;
}

/* 0: they are of one package. */
static unsigned peer_hops(const struct hip_device *device, int other)
{
    const struct hip_runtime *runtime = hip_runtime();

    return ehp_node_hops(runtime->machine, device->info.package, runtime->device[other].info.package);
}

HIP_ENTRY hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId)
{
    struct hip_device *device;

    if (!canAccessPeer)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = peer_pair(deviceId, peerDeviceId, &device);
    *canAccessPeer = error == hipSuccess && deviceId != peerDeviceId;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags)
{
    struct hip_device *device;

    if (flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = peer_pair(hip_thread()->device, peerDeviceId, &device);
    if (error != hipSuccess)
        return hip_return(error);
    if (device->ordinal == peerDeviceId)
        return hip_return(hipErrorInvalidDevice);
    if (device->peer[peerDeviceId])
        return hip_return(hipErrorPeerAccessAlreadyEnabled);
    device->peer[peerDeviceId] = true;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceDisablePeerAccess(int peerDeviceId)
{
    struct hip_device *device;
    hipError_t error = peer_pair(hip_thread()->device, peerDeviceId, &device);

    if (error != hipSuccess)
        return hip_return(error);
    if (!device->peer[peerDeviceId])
        return hip_return(hipErrorPeerAccessNotEnabled);
    device->peer[peerDeviceId] = false;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    struct hip_device *device;

    if (!value)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = peer_pair(srcDevice, dstDevice, &device);
    if (error != hipSuccess)
        return hip_return(error);
    if (srcDevice == dstDevice)
        return hip_return(hipErrorInvalidDevice);
    switch (attr) {
    case hipDevP2PAttrPerformanceRank: /* the best is 0 */
        *value = (int)peer_hops(device, dstDevice);
        break;
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported:
        *value = 1;
        break;
    case hipDevP2PAttrHipArrayAccessSupported:
        *value = 0;
        break;
    default:
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t *linktype,
                                                  uint32_t *hopcount)
{
    struct hip_device *device;

    if (!linktype || !hopcount)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = peer_pair(device1, device2, &device);
    if (error != hipSuccess)
        return hip_return(error);
    if (device1 == device2)
        return hip_return(hipErrorInvalidDevice);
    *linktype = 4; /* HSA_AMD_LINK_INFO_TYPE_XGMI */
    *hopcount = peer_hops(device, device2);
    if (!*hopcount) /* partitions of one package */
        *hopcount = 1;
    return hip_return(hipSuccess);
}
