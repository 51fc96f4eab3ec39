/* SPDX-License-Identifier: MIT */
/* Programs that load the libraries when they need them, and let go of them again. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "../check.h"

static void use(void *library)
{
    hipError_t (*allocate)(void **, size_t), (*fill)(void *, int, size_t, hipStream_t), (*wait)(void),
        (*release)(void *);
    *(void **)&allocate = dlsym(library, "hipMalloc");
    *(void **)&fill = dlsym(library, "hipMemsetAsync");
    *(void **)&wait = dlsym(library, "hipDeviceSynchronize");
    *(void **)&release = dlsym(library, "hipFree");
    unsigned char *memory = NULL;
    if (!CHECK(allocate && fill && wait && release))
        return;
    CHECK(allocate((void **)&memory, 4096) == hipSuccess);
    CHECK(fill(memory, 5, 4096, hipStreamPerThread) == hipSuccess); /* has a key of the thread's */
    CHECK(wait() == hipSuccess);
    CHECK(memory && memory[4095] == 5);
    CHECK(release(memory) == hipSuccess);
}

static void *thread(void *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(library != NULL)) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    use(library);
    CHECK(dlclose(library) == 0);
    return NULL;
}

/* One library, again and again, by a thread that ends without it; then the process ends without it. */
static int one(char *path)
{
    for (int i = 0; i < 3; i++) {
        pthread_t id;
        thread(path);
        CHECK(pthread_create(&id, NULL, thread, path) == 0);
        pthread_join(id, NULL);
    }
    usleep(20000); /* its threads go on */
    return check_failures != 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        pid_t child = fork();
        int status = -1;
        if (child == 0) {
            alarm(60);
            exit(one(argv[i]));
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_EQ(status, 0);
    }
    return check_status();
}
