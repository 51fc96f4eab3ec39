// SPDX-License-Identifier: MIT
// MPI in simulated time: what calls give is right, and what they take is printed, for times.py to compare
// with the node file.  Every line must be the same on every run.
#include <mpi.h>

#include <cstring>
#include <unistd.h>
#include <vector>

#include "../hip/check_hip.h"

static int rank, ranks, wrong;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::printf("rank %d, line %d: %s\n", rank, __LINE__, #condition);                               \
            wrong++;                                                                                         \
        }                                                                                                    \
    } while (0)

static double now()
{
    return MPI_Wtime() * 1e6;
}

// All begin at one time: a barrier's ends differ.
static double begin()
{
    double mine, latest;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    MPI_Allreduce(&mine, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    while (MPI_Wtime() < latest + 20e-6)
        ;
    return now();
}

// The host lets ranks wait as it likes.
static void dawdle(int n)
{
    usleep(static_cast<useconds_t>((rank * 7919 + n * 104729) % 13 * 700));
}

static void ping_pong(int a, int b, std::vector<char> &data)
{
    const int times = 8;
    for (int bytes : {0, 1000, 100000, 4000000}) {
        begin();
        const double start = now();
        for (int i = 0; i < times; i++) {
            if (rank == a)
                MPI_Send(data.data(), bytes, MPI_BYTE, b, 1, MPI_COMM_WORLD);
            if (rank == a || rank == b)
                MPI_Recv(data.data(), bytes, MPI_BYTE, rank == a ? b : a, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            if (rank == b)
                MPI_Send(data.data(), bytes, MPI_BYTE, a, 1, MPI_COMM_WORLD);
        }
        const double end = now();
        if (rank == a)
            std::printf("pingpong %d %d %d %.6f\n", a, b, bytes, (end - start - 0.025) / (2 * times));
    }
}

// Whoever is there first in simulated time, which is not the order of ranks, nor the host's.
static void any_source()
{
    if (rank) {
        for (int i = 0; i < 3; i++) {
            begin();
            dawdle(i);
            const double until = now() + (rank * 5 + i * 3) % ranks * 10 + 10;
            while (now() < until)
                ;
            int value[2] = {rank, i};
            MPI_Send(value, 2, MPI_INT, 0, 50 + i, MPI_COMM_WORLD);
        }
        return;
    }
    for (int i = 0; i < 3; i++) {
        begin();
        dawdle(i);
        std::printf("any");
        for (int n = 1; n < ranks; n++) {
            int value[2], count;
            MPI_Status status;
            MPI_Recv(value, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            EXPECT(count == 2 && status.MPI_SOURCE == value[0] && status.MPI_TAG == 50 + i && value[1] == i);
            std::printf(" %d", value[0]);
        }
        std::printf(" %.6f\n", now());
    }
}

// Looks again and again; how often is a matter of simulated time.
static void poll()
{
    const double start = begin();
    dawdle(1);
    if (rank == 1) {
        while (now() < start + 50)
            ;
        MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    } else if (rank == 0) {
        int value = -1, flag = 0, looks = 0, probes = 0;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        for (; !flag; looks++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        EXPECT(value == 1 && request == MPI_REQUEST_NULL);
        for (flag = 0; !flag; probes++)
            MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::printf("poll %d %d %.6f\n", looks, probes, now() - start);
    }
}

static void ring()
{
    const double start = begin();
    int token = 0;
    if (rank)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(token == rank);
    token++;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&token, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(token == ranks);
        std::printf("ring %.6f\n", now() - start - 0.025);
    }
}

static void all_reduce()
{
    for (int n : {1, 1000, 1000000}) {
        std::vector<double> from(n), to(n);
        for (int i = 0; i < n; i++)
            from[i] = rank + i;
        const double start = begin();
        MPI_Allreduce(from.data(), to.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        const double took = now() - start;
        for (int i = 0; i < n; i++)
            EXPECT(to[i] == ranks * (ranks - 1) / 2 + static_cast<double>(ranks) * i);
        if (rank == 0)
            std::printf("allreduce %d %.6f\n", 8 * n, took);
    }
}

__global__ void add_one(int *p, int n)
{
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 64)
        p[i]++;
}

// What a kernel takes, as events say, is what the clock of MPI says, and the other rank's as well.
static void kernels(int *device)
{
    const int n = 1 << 14;
    hipEvent_t from, to;
    float ms = 0;
    std::vector<int> host(n);
    HIP_OK(hipEventCreate(&from));
    HIP_OK(hipEventCreate(&to));
    HIP_OK(hipMemset(device, 0, n * sizeof(int)));
    HIP_OK(hipDeviceSynchronize());
    const double start = begin();
    if (rank)
        MPI_Recv(device, n, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double before = now();
    HIP_OK(hipEventRecord(from));
    add_one<<<1, 64>>>(device, n);
    HIP_OK(hipEventRecord(to));
    HIP_OK(hipEventSynchronize(to));
    const double after = now();
    HIP_OK(hipEventElapsedTime(&ms, from, to));
    EXPECT(ms * 1e3 < after - before && ms * 1e3 > (after - before) / 4);
    if (rank + 1 < ranks)
        MPI_Send(device, n, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    else {
        HIP_OK(hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDefault));
        for (int value : host)
            EXPECT(value == ranks);
        std::printf("kernels %.6f %.6f\n", now() - start, ms * 1e3);
    }
    double last = after; // one clock: who was after another says a later time
    MPI_Bcast(&last, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    EXPECT(rank == ranks - 1 || after < last);
    // A kernel goes on while its rank waits, and no longer.
    begin();
    add_one<<<1, 64>>>(device, n);
    dawdle(3);
    MPI_Barrier(MPI_COMM_WORLD);
    HIP_OK(hipDeviceSynchronize());
    if (rank == 0)
        std::printf("beside %.6f\n", now());
    HIP_OK(hipEventDestroy(from));
    HIP_OK(hipEventDestroy(to));
}

// Of all kinds of calls: what they give.
static void calls()
{
    MPI_Comm half, copy;
    int size, r, value = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_size(half, &size);
    MPI_Comm_rank(half, &r);
    EXPECT(size == (ranks + 1 - rank % 2) / 2 && r == size - 1 - rank / 2);
    MPI_Comm_dup(half, &copy);
    // The same tag in two communicators, received the other way round.
    int a = 100 + rank, b = 200 + rank, got[2] = {};
    MPI_Request request[4];
    MPI_Isend(&a, 1, MPI_INT, (r + 1) % size, 5, half, &request[0]);
    MPI_Issend(&b, 1, MPI_INT, (r + 1) % size, 5, copy, &request[1]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, &request[2]);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &request[3]);
    MPI_Status status[4];
    MPI_Waitall(4, request, status);
    const int from = (r + size - 1) % size, world = (size - 1 - from) * 2 + rank % 2;
    EXPECT(got[0] == 100 + world && got[1] == 200 + world && status[2].MPI_SOURCE == from &&
           status[3].MPI_TAG == 5 && request[3] == MPI_REQUEST_NULL);
    // A column of a matrix; Wait on the second first.
    int matrix[4][4], column[4] = {}, plain[4] = {};
    MPI_Datatype type;
    for (int i = 0; i < 16; i++)
        matrix[i / 4][i % 4] = 1000 * rank + i;
    MPI_Type_vector(4, 1, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    const int to = (rank + 1) % ranks, source = (rank + ranks - 1) % ranks;
    MPI_Irecv(plain, 4, MPI_INT, source, 9, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(column, 4, MPI_INT, source, 9, MPI_COMM_WORLD, &request[1]);
    MPI_Send(&matrix[0][0], 4, MPI_INT, to, 9, MPI_COMM_WORLD);
    MPI_Send(&matrix[0][2], 1, type, to, 9, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        EXPECT(column[i] == 1000 * source + 4 * i + 2 && plain[i] == 1000 * source + i);
    // Persistent, three times; any of two.
    MPI_Send_init(&value, 1, MPI_INT, to, 11, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(&got[0], 1, MPI_INT, source, 11, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 3; i++) {
        int index, done = 0;
        value = 10 * rank + i;
        MPI_Startall(2, request);
        for (; done < 2; done++)
            MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
        EXPECT(index == MPI_UNDEFINED && got[0] == 10 * source + i && request[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    // A message that is found is the one that is received; one that is not sent can be given up.
    MPI_Message message;
    int count, cancelled;
    MPI_Irecv(&got[1], 1, MPI_INT, source, 77, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(matrix, 5, MPI_INT, to, 12, MPI_COMM_WORLD, &request[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &message, &status[0]);
    MPI_Get_count(&status[0], MPI_INT, &count);
    EXPECT(count == 5 && status[0].MPI_SOURCE == source);
    int five[5];
    MPI_Mrecv(five, count, MPI_INT, &message, MPI_STATUS_IGNORE);
    EXPECT(five[4] == 1000 * source + 4 && message == MPI_MESSAGE_NULL);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Cancel(&request[2]);
    MPI_Wait(&request[2], &status[2]);
    MPI_Test_cancelled(&status[2], &cancelled);
    EXPECT(cancelled);
    // To nobody; an exchange in place.
    MPI_Sendrecv_replace(&a, 1, MPI_INT, to, 1, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(a == 100 + source);
    MPI_Sendrecv(&b, 1, MPI_INT, MPI_PROC_NULL, 1, &got[0], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                 &status[0]);
    MPI_Get_count(&status[0], MPI_INT, &count);
    EXPECT(status[0].MPI_SOURCE == MPI_PROC_NULL && count == 0);
    int index;
    MPI_Irecv(&got[0], 1, MPI_INT, rank ? rank - 1 : MPI_PROC_NULL, 21, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&value, 1, MPI_INT, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 21, MPI_COMM_WORLD,
              &request[1]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &request[2]);
    MPI_Waitany(3, request, &index, MPI_STATUS_IGNORE);
    EXPECT(index == (rank == 0 ? 0 : rank + 1 == ranks ? 1 : 2));
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        EXPECT(request[i] == MPI_REQUEST_NULL);
    // What is too long for its place is an error of the program's communicator.
    MPI_Errhandler old;
    MPI_Comm_get_errhandler(copy, &old);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Isend(matrix, 2, MPI_INT, r, 0, copy, &request[0]);
    const int error = MPI_Recv(&got[0], 1, MPI_INT, r, 0, copy, MPI_STATUS_IGNORE);
    int kind = 0;
    MPI_Error_class(error, &kind);
    EXPECT(kind == MPI_ERR_TRUNCATE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Errhandler_free(&old);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

static void collectives()
{
    std::vector<int> all(ranks), each(ranks), counts(ranks), places(ranks), many(ranks * (ranks + 1) / 2);
    int sum = 0, scanned = 0, mine = rank * rank;
    MPI_Request request[3];
    for (int i = 0, place = 0; i < ranks; i++) {
        counts[i] = i + 1;
        places[i] = place;
        place += i + 1;
        each[i] = 100 * rank + i;
    }
    MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    MPI_Bcast(all.data(), ranks, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        EXPECT(all[i] == i * i);
    std::vector<int> own(rank + 1, rank);
    MPI_Allgatherv(own.data(), rank + 1, MPI_INT, many.data(), counts.data(), places.data(), MPI_INT,
                   MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        EXPECT(many[places[i]] == i && many[places[i] + i] == i);
    MPI_Scatterv(many.data(), counts.data(), places.data(), MPI_INT, own.data(), rank + 1, MPI_INT, 1,
                 MPI_COMM_WORLD);
    EXPECT(own[rank] == rank);
    // Three at a time, and work of the program's between: also in place.
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, each.data(), 1, MPI_INT, MPI_COMM_WORLD, &request[1]);
    MPI_Iscan(&mine, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[2]);
    int flag = 0, looks = 0;
    for (; !flag; looks++)
        MPI_Testall(3, request, &flag, MPI_STATUSES_IGNORE);
    EXPECT(sum == (ranks - 1) * ranks * (2 * ranks - 1) / 6 &&
           scanned == rank * (rank + 1) * (2 * rank + 1) / 6);
    for (int i = 0; i < ranks; i++)
        EXPECT(each[i] == 100 * i + rank);
    MPI_Reduce(rank ? &mine : MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    EXPECT(rank || mine == sum);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("collectives %d %.6f\n", looks, now());
}

// A status's error is told by calls that complete several requests; those of one leave it alone.
static void errors_of_statuses()
{
    const int before = 12345;
    MPI_Status status, many[2];
    MPI_Request request[2];
    MPI_Message message;
    int flag = 0, index, word;
    const auto same = [&] { return status.MPI_ERROR == before && status.MPI_SOURCE == rank; };
    status.MPI_ERROR = before;
    for (int i = 0; i < 6; i++) {
        MPI_Isend(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Request_free(&request[0]);
    }
    MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    EXPECT(same());
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    EXPECT(same());
    MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status);
    EXPECT(same());
    MPI_Mrecv(&word, 1, MPI_INT, &message, &status);
    EXPECT(same());
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], &status);
    EXPECT(same());
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request[0]);
    while (!flag)
        MPI_Test(&request[0], &flag, &status);
    EXPECT(same());
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Waitany(1, request, &index, &status);
    EXPECT(same());
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 6, &word, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &status);
    EXPECT(same());
    MPI_Irecv(&word, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &request[0]);
    request[1] = MPI_REQUEST_NULL;
    many[0].MPI_ERROR = many[1].MPI_ERROR = before;
    MPI_Waitall(2, request, many);
    EXPECT(many[0].MPI_ERROR == MPI_SUCCESS && many[1].MPI_ERROR == MPI_SUCCESS);
}

// A long message that is buffered is sent before anybody asks for it; what has begun outlives its
// communicator.
static void buffers()
{
    const int n = 100000, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    std::vector<int> out(n, rank), in(n), room(n + MPI_BSEND_OVERHEAD);
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    int bytes;
    void *had;
    MPI_Buffer_attach(room.data(), static_cast<int>(room.size() * sizeof(int)));
    MPI_Bsend(out.data(), n, MPI_INT, right, 7, MPI_COMM_WORLD);
    out.assign(n, -1);
    MPI_Sendrecv(nullptr, 0, MPI_INT, right, 8, nullptr, 0, MPI_INT, left, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Recv(in.data(), n, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&had, &bytes);
    EXPECT(in[0] == left && in[n - 1] == left && had == room.data());
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(in.data(), n, MPI_INT, MPI_ANY_SOURCE, 9, comm, &request);
    MPI_Send(out.data(), 1, MPI_INT, right, 9, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, &status);
    EXPECT(in[0] == -1 && status.MPI_SOURCE == left);
}

int main(int argc, char **argv)
{
    int devices, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EXPECT(provided == MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<char> data(4000000);
    ping_pong(0, 1, data);
    ping_pong(0, ranks - 1, data);
    ring();
    all_reduce();
    calls();
    HIP_OK(hipGetDeviceCount(&devices));
    HIP_OK(hipSetDevice(rank % devices));
    int *device;
    HIP_OK(hipMalloc(&device, sizeof(int) << 14));
    kernels(device);
    any_source();
    poll();
    collectives();
    errors_of_statuses();
    buffers();
    HIP_OK(hipFree(device));
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("wrong %d\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
