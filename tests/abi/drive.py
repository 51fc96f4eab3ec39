#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives libehp from Python through its plain C ABI: drive.py LIBEHP KERNELS.hsaco

The layouts are written down here from ehp.h and aql.h by hand, so that a field that moves is noticed.
"""
import array
import ctypes as c
import sys


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("chip", c.c_char_p), ("partition", c.c_char_p), ("nps", c.c_uint),
                ("threads", c.c_uint), ("timeout_ms", c.c_uint64), ("xcc_chunk", c.c_uint), ("progress", c.c_bool),
                ("timing", c.c_bool), ("error", c.c_char * 256)]


class KernelHead(c.Structure):  # struct ehp_kernel up to what is needed; `size` says how much
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("object", c.c_uint64), ("entry", c.c_uint64),
                ("kernarg_bytes", c.c_uint32), ("kernarg_align", c.c_uint32), ("group_bytes", c.c_uint32),
                ("private_bytes", c.c_uint32)]


class Dispatch(c.Structure):
    _fields_ = [("header", c.c_uint16), ("setup", c.c_uint16), ("wx", c.c_uint16), ("wy", c.c_uint16),
                ("wz", c.c_uint16), ("r0", c.c_uint16), ("gx", c.c_uint32), ("gy", c.c_uint32), ("gz", c.c_uint32),
                ("private", c.c_uint32), ("group", c.c_uint32), ("kernel_object", c.c_uint64),
                ("kernarg", c.c_void_p), ("r2", c.c_uint64), ("completion", c.c_uint64)]


class Signal(c.Structure):
    _fields_ = [("handle", c.c_uint64)]


assert c.sizeof(Dispatch) == 64
ehp = c.CDLL(sys.argv[1])
ehp.ehp_version.restype = ehp.ehp_error_text.restype = c.c_char_p
ehp.ehp_signal_wait.restype = c.c_int64
ehp.ehp_signal_wait.argtypes = [Signal, c.c_int, c.c_int64, c.c_uint64]
ehp.ehp_queue_submit.restype = c.c_uint64

N = 4096


def run(chip):
    options = Options(size=c.sizeof(Options), chip=chip)
    machine = c.c_void_p()
    assert ehp.ehp_open(c.byref(options), c.byref(machine)) == 0, options.error

    def check(status):
        assert status == 0, ehp.ehp_error_text(machine)

    image = open(sys.argv[2], "rb").read()
    code, queue, signal = c.c_void_p(), c.c_void_p(), Signal()
    check(ehp.ehp_code_load(machine, 0, image, c.c_size_t(len(image)), c.byref(code)))
    kernel = KernelHead(size=c.sizeof(KernelHead))
    check(ehp.ehp_code_kernel(code, b"vector_add", c.byref(kernel)))
    check(ehp.ehp_queue_create(machine, 0, 16, 1, c.byref(queue)))
    check(ehp.ehp_signal_create(machine, c.c_int64(1), c.byref(signal)))
    a = array.array("f", [i * 0.5 for i in range(N)])
    b = array.array("f", [i * 2.0 for i in range(N)])
    out = array.array("f", [0.0] * N)
    kernarg = array.array("Q", [a.buffer_info()[0], b.buffer_info()[0], out.buffer_info()[0]])
    for mine in (a, b, out, kernarg):  # what the GPU may access of the process's memory
        address, items = mine.buffer_info()
        check(ehp.ehp_mem_register(machine, c.c_void_p(address), c.c_uint64(items * mine.itemsize)))
    packet = Dispatch(header=2 | 1 << 8 | 2 << 9 | 2 << 11, setup=1, wx=256, wy=1, wz=1, gx=N, gy=1, gz=1,
                      private=kernel.private_bytes, group=kernel.group_bytes, kernel_object=kernel.object,
                      kernarg=kernarg.buffer_info()[0], completion=signal.handle)
    ehp.ehp_queue_submit(queue, c.byref(packet))
    assert ehp.ehp_signal_wait(signal, 0, 0, 10**10) == 0
    assert list(out) == [i * 2.5 for i in range(N)]
    assert ehp.ehp_code_kernel(code, b"no_such_kernel", c.byref(kernel)) != 0
    ehp.ehp_signal_destroy(signal)
    ehp.ehp_queue_destroy(queue)
    ehp.ehp_close(machine)


run(b"mi300a")
run(b"mi300x")
wrong = Options(size=c.sizeof(Options), chip=b"mi300q")
nothing = c.c_void_p()
assert ehp.ehp_open(c.byref(wrong), c.byref(nothing)) != 0 and b"mi300q" in wrong.error
print("ehp", ehp.ehp_version().decode(), "driven from Python: PASSED")
