/* SPDX-License-Identifier: MIT */
/* Devices: agents of the machine as HIP describes them. */
#ifndef HIP_DEVICE_H
#define HIP_DEVICE_H

#include "hip/core/runtime.h"

bool hip_device_init(struct hip_runtime *runtime, int ordinal, unsigned agent);
void hip_device_fill_props(struct hip_device *device);
/* hipDeviceReset(): waits, forgets faults, memory, streams and loaded code of the device. */
hipError_t hip_device_reset(struct hip_device *device);

#endif
