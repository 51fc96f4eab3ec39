// SPDX-License-Identifier: MIT
// A device assertion that fails says where in glibc's words on stderr, and the launch ends in an error; one
// that holds says nothing. A child process fails, because its device is of no use afterwards.
#include "check_hip.h"
#include <cassert>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void assert_below(int limit)
{
    assert(static_cast<int>(threadIdx.x) < limit && "too many");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        assert_below<<<1, 64>>>(50);
        const hipError_t status = hipDeviceSynchronize();
        return status == hipSuccess ? 10 : 20;
    }
    assert_below<<<1, 64>>>(64);
    HIP_OK(hipGetLastError());
    HIP_OK(hipDeviceSynchronize());

    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        execl("/proc/self/exe", argv[0], "fail", static_cast<char *>(nullptr));
        _exit(127);
    }
    close(ends[1]);
    std::string said;
    char part[512];
    for (ssize_t n; (n = read(ends[0], part, sizeof(part))) > 0;)
        said.append(part, static_cast<size_t>(n));
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(said.find("Device-side assertion `static_cast<int>(threadIdx.x) < limit && \"too many\"' failed") !=
              std::string::npos,
          "stderr: %s", said.c_str());
    CHECK(said.find("assertion.hip:") != std::string::npos, "stderr: %s", said.c_str());
    // The call returns an error, or the process is killed as the chip's own driver would.
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 20, "status %x", static_cast<unsigned>(status));
    return check_done();
}
