// SPDX-License-Identifier: MIT
// Where the program's own memory is, for determinism.sh: simulated time follows it where the GPU uses it.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

int main()
{
    int devices = 0;
    (void)hipGetDeviceCount(&devices);
    for (size_t bytes : {8u, 24u, 40u, 100u, 280u, 600u, 1500u, 5000u, 50000u})
        std::printf("%zu bytes at %p\n", bytes, std::malloc(bytes));
    return devices != 1;
}
