// SPDX-License-Identifier: MIT
// A kernel and two threads of the host hand a number to each other through one cache line: each waits for its
// turn, adds one, and passes it on. Shows atomics at system scope, and how long a line takes from CPU to GPU
// and between cores.
//
//     ehp cc --time-host -O2 handshake.hip -o handshake && ehp run --mode timing ./handshake
#include "check.h"

#include <atomic>
#include <chrono>
#include <thread>

static const unsigned ROUNDS = 100;

__global__ void take_turns(unsigned *turn, unsigned rounds, unsigned players, unsigned own)
{
    for (unsigned i = 0; i < rounds; i++) {
        const unsigned mine = i * players + own;
        while (__hip_atomic_load(turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != mine)
            __builtin_amdgcn_s_sleep(1);
        __hip_atomic_store(turn, mine + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

static void play(std::atomic<unsigned> *turn, unsigned players, unsigned own)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        const unsigned mine = i * players + own;
        while (turn->load(std::memory_order_acquire) != mine)
            std::this_thread::yield();
        turn->store(mine + 1, std::memory_order_release);
    }
}

int main()
{
    unsigned *memory;
    CHECK_HIP(hipHostMalloc(&memory, 128, 0));
    auto *turn = reinterpret_cast<std::atomic<unsigned> *>(memory);
    bool right = true;
    for (bool gpu : {false, true}) {
        *turn = 0;
        const unsigned players = gpu ? 3 : 2;
        const auto begin = std::chrono::steady_clock::now();
        if (gpu) {
            take_turns<<<1, 1>>>(memory, ROUNDS, players, 2);
            CHECK_HIP(hipGetLastError());
        }
        std::thread other(play, turn, players, 1);
        play(turn, players, 0);
        other.join();
        CHECK_HIP(hipDeviceSynchronize());
        const double us =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
        std::printf("%s: %u turns, %.2f us each\n", gpu ? "two cores and a kernel" : "two cores", *turn + 0,
                    us / (ROUNDS * players));
        right = right && *turn == ROUNDS * players;
    }
    CHECK_HIP(hipHostFree(memory));
    return report(right, "a number through one cache line");
}
