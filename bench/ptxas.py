#!/usr/bin/env python3
"""Compiles the CUDA kernels and checks what the compiler made of them, which needs no device.

    bench/ptxas.py [--objects FOLDER] [--registers FILE] [--write] [--jobs 2] [SOURCE.cu...]

A fault is: a register spilled, local memory, double arithmetic or a 64-bit division in a kernel, a vector load or
store that the source asks for and that is missing; more of these than results/ptxas.csv has, or a kernel that is not
in it. What else differs from that table, such as registers, is printed. --write writes the table anew. --objects keeps
the object files, --registers writes a line "mangled name,registers" for each kernel. Without sources these are all of
kernels/cuda. The machine code is checked too where cuobjdump and nvdisasm are found: on the PATH, beside nvcc, or
from PyPI (nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm).
"""
import argparse
import concurrent.futures
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TABLE = os.path.join(HERE, "results", "ptxas.csv")
ARCHITECTURES = (75, 90)
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-Werror", "all-warnings", "-O3", "-I", ROOT, "-I",
         os.path.join(ROOT, "kernels", "emulation", "include")]

# Kernels that compute in double, by the beginning of their demangled name.
DOUBLES = ()
# How many vector loads and stores of global memory a kernel has at least, by what its demangled name matches.
VECTORS = (
    (r"unary_forward_kernel<", 1, 1),
    (r"unary_backward_kernel<", 1, 1),
    (r"binary_dense_kernel<", 2, 1),
    (r"binary_broadcast4_kernel<", 2, 1),
    (r"fill_kernel<", 0, 1),
    (r"copy_strided_kernel<.*Bytes16>", 1, 1),
    (r"gemm_tiles_kernel<.*, true>", 2, 1),  # the last argument: in fours
)
# Threads, blocks and shared memory of a multiprocessor, and what a block takes of the memory beside its own.
LIMITS = {75: (1024, 16, 64 << 10, 0), 80: (2048, 32, 164 << 10, 1024), 86: (1536, 16, 100 << 10, 1024),
          89: (1536, 24, 100 << 10, 1024), 90: (2048, 32, 228 << 10, 1024), 100: (2048, 32, 228 << 10, 1024),
          120: (1536, 24, 100 << 10, 1024)}
# In the machine code.
DOUBLE = "double arithmetic"
INSTRUCTIONS = ((r"\b(?:LDL|STL)\b", "local memory"), (r"\b(?:DADD|DMUL|DFMA|DSETP)\b", DOUBLE))
COLUMNS = ("kernel", "mangled", "arch", "registers", "shared_bytes", "spill_bytes", "local_bytes", "f64", "div64",
           "threads", "occupancy")
FAULTS = ("spill_bytes", "local_bytes", "f64", "div64")  # columns


def find_tool(name, nvcc):
    """A tool of the toolkit, or None."""
    beside = os.path.join(os.path.dirname(nvcc), name)
    found = shutil.which(name) or (beside if os.access(beside, os.X_OK) else None)
    if not found:
        places = (os.path.join(folder, "nvidia", "*", "bin", name) for folder in sys.path)
        found = next((file for place in places for file in glob.glob(place)), None)
    return found


def find_nvcc():
    for nvcc in (shutil.which("nvcc"), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc"),
                 "/usr/local/cuda/bin/nvcc"):
        if nvcc and os.access(nvcc, os.X_OK):
            return os.path.realpath(nvcc)
    raise SystemExit("ptxas.py: there is no nvcc on the PATH, in $CUDA_HOME or in /usr/local/cuda")


def demangle(names):
    """The names without return type and parameters: "unary_forward_kernel<(dnn::UnaryOp)1>"."""
    if not names or not shutil.which("c++filt"):
        return {name: name for name in names}
    lines = subprocess.run(["c++filt"], input="\n".join(names), check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    return {name: without_parameters(line) for name, line in zip(names, lines)}


def without_parameters(text):
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            text = text[:at]
            break
    return re.sub(r"^void ", "", text).replace("dnn::cuda::", "")


def occupancy(kernel):
    """The share of a multiprocessor's threads that can be there at once."""
    most_threads, most_blocks, shared_memory, reserved = LIMITS[kernel["arch"]]
    warps = (kernel["threads"] + 31) // 32
    of_warp = -(-kernel["registers"] * 32 // 256) * 256  # registers are given by 256
    by_registers = 65536 // of_warp // 4 * 4 // warps
    shared = kernel["shared_bytes"] + reserved
    by_shared = shared_memory // shared if shared else most_blocks
    blocks = min(most_blocks, most_threads // kernel["threads"], by_registers, by_shared)
    return blocks * kernel["threads"] / most_threads


def read_log(text, arch):
    """What ptxas -v says of each kernel: {mangled: {column: value}}."""
    kernels, at = {}, None
    for line in text.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)'", line):
            at = {"mangled": m[1], "arch": int(m[2]), "shared_bytes": 0}
            if at["arch"] == arch:
                kernels[m[1]] = at
        elif m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if at is not None and "spill_bytes" not in at:
                at["local_bytes"], at["spill_bytes"] = int(m[1]), int(m[2]) + int(m[3])
        elif m := re.search(r"Used (\d+) registers", line):
            at["registers"] = int(m[1])
            if m := re.search(r"(\d+) bytes smem", line):
                at["shared_bytes"] = int(m[1])
    return kernels


def read_ptx(text):
    """{mangled: (threads of a block or None, the kernel's text)}"""
    parts = re.split(r"^\.(?:visible |weak )?\.?entry ", text, flags=re.M)
    kernels = {}
    for part in parts[1:]:
        body = part.split("\n}\n")[0]
        bounds = re.search(r"^\.maxntid (\d+)(?:, (\d+), (\d+))?", body, flags=re.M)
        threads = None
        if bounds:
            threads = int(bounds[1]) * int(bounds[2] or 1) * int(bounds[3] or 1)
        kernels[re.match(r"\w+", part)[0]] = (threads, body)
    return kernels


def count(pattern, text):
    return len(re.findall(pattern, text))


def check_kernel(kernel, body):
    """Faults of one kernel's PTX."""
    faults = []
    kernel["f64"] = count(r"\.f64\b", re.sub(r"^\s*\.reg .*$", "", body, flags=re.M))
    kernel["div64"] = count(r"\b(?:div|rem)\.[us]64\b", body)
    kernel["local_bytes"] = max(kernel["local_bytes"], 1 if ".local" in body else 0)
    for column in FAULTS:
        if kernel[column] and not (column == "f64" and kernel["kernel"].startswith(DOUBLES)):
            faults.append("%s = %d" % (column, kernel[column]))
    vector = r"\.global(?:\.nc)?(?:\.L\w+)*\.(?:v4\.[bfu]32|v2\.[bfu]64)"
    loads, stores = count(r"\bld" + vector, body), count(r"\bst" + vector, body)
    for pattern, least_loads, least_stores in VECTORS:
        if re.search(pattern, kernel["kernel"]) and (loads < least_loads or stores < least_stores):
            faults.append("%d vector loads and %d stores of global memory, at least %d and %d are due" %
                          (loads, stores, least_loads, least_stores))
    return faults


def check_sass(tools, cubin, kernels):
    """Faults of the machine code: {mangled: [text]}."""
    cuobjdump, nvdisasm = tools
    if not cuobjdump:
        return {}
    environment = dict(os.environ, PATH=os.path.dirname(nvdisasm) + os.pathsep + os.environ.get("PATH", ""))
    done = subprocess.run([cuobjdump, "-sass", cubin], check=True, stdout=subprocess.PIPE, text=True, env=environment)
    faults = {}
    for part in re.split(r"^\s*Function : ", done.stdout, flags=re.M)[1:]:
        name = re.match(r"\S+", part)[0]
        if name not in kernels:
            continue
        for pattern, what in INSTRUCTIONS:
            found = count(pattern, part)
            if found and not (what == DOUBLE and kernels[name]["kernel"].startswith(DOUBLES)):
                faults.setdefault(name, []).append("machine code: %d instructions of %s" % (found, what))
    return faults


def compile_source(nvcc, tools, source, folder, objects):
    """The kernels of a source, one entry for each architecture, and the faults found, as texts."""
    stem = os.path.splitext(os.path.basename(source))[0]
    kept = os.path.join(folder, stem)
    os.makedirs(kept)
    codes = [option for arch in ARCHITECTURES for option in ("-gencode", "arch=compute_%d,code=sm_%d" % (arch, arch))]
    done = subprocess.run([nvcc, *FLAGS, *codes, "-Xptxas", "-v", "--keep", "--keep-dir", kept, "-Xcompiler", "-fPIC",
                           "-c", source, "-o", os.path.join(objects or kept, stem + ".o")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return [], ["%s does not compile:\n%s" % (source, done.stdout)]
    all_kernels, faults = [], []
    for arch in ARCHITECTURES:
        kernels = read_log(done.stdout, arch)
        path = os.path.join(kept, "%s.compute_%d" % (stem, arch))
        with open(path + ".ptx") as file:
            bodies = read_ptx(file.read())
        if kernels.keys() != bodies.keys():
            raise SystemExit("ptxas.py: ptxas -v tells of other kernels than the PTX of %s has" % source)
        names = demangle(sorted(kernels))
        found = {name: [] for name in kernels}
        for name, kernel in kernels.items():
            kernel["kernel"] = names[name]
            threads, body = bodies[name]
            kernel["threads"] = threads or 1024
            kernel["occupancy"] = "%.2f" % occupancy(kernel)
            found[name] += check_kernel(kernel, body)
        for name, texts in check_sass(tools, path + ".cubin", kernels).items():
            found[name] += texts
        all_kernels += kernels.values()
        faults += ["%s on sm_%d: %s" % (names[name], arch, text) for name, texts in found.items() for text in texts]
    return all_kernels, faults


def compare(kernels, partial):
    """Faults beside the table, and lines on what else differs."""
    try:
        with open(TABLE) as file:
            before = {(row["mangled"], int(row["arch"])): row for row in csv.DictReader(file)}
    except FileNotFoundError:
        before = {}
    faults, notes = [], []
    for kernel in kernels:
        row = before.pop((kernel["mangled"], kernel["arch"]), None)
        title = "%s on sm_%d" % (kernel["kernel"], kernel["arch"])
        if row is None:
            faults.append(title + ": is not in results/ptxas.csv; bench/ptxas.py --write")
            continue
        for column in COLUMNS[3:]:
            if str(kernel[column]) == row[column]:
                continue
            text = "%s: %s %s, was %s" % (title, column, kernel[column], row[column])
            (faults if column in FAULTS and int(kernel[column]) > int(row[column]) else notes).append(text)
    if not partial:
        faults += ["%s on sm_%d: is in results/ptxas.csv but no more a kernel" % (row["kernel"], key[1])
                   for key, row in before.items()]
    return faults, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--objects")
    parser.add_argument("--registers")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    nvcc = find_nvcc()
    tools = tuple(find_tool(name, nvcc) for name in ("cuobjdump", "nvdisasm"))
    tools = tools if all(tools) else (None, None)
    sources = args.sources or sorted(glob.glob(os.path.join(ROOT, "kernels", "cuda", "*.cu")))
    # The longest first, so that no worker is left with one at the end.
    by_size = sorted(sources, key=lambda source: (os.path.basename(source) != "gemm.cu", -os.path.getsize(source)))
    kernels, faults = [], []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if args.objects:
            os.makedirs(args.objects, exist_ok=True)
        jobs = [pool.submit(compile_source, nvcc, tools, source, folder, args.objects) for source in by_size]
        for job in jobs:
            found, texts = job.result()
            kernels += found
            faults += texts
    kernels.sort(key=lambda kernel: (kernel["kernel"], kernel["mangled"], kernel["arch"]))
    if args.write:
        with open(TABLE, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kernels)
    else:
        more, notes = compare(kernels, bool(args.sources))
        faults += more
        for note in notes:
            print("differs: " + note)
    if args.registers:
        with open(args.registers, "w") as file:
            for kernel in kernels:
                if kernel["arch"] == ARCHITECTURES[0]:
                    file.write("%s,%d\n" % (kernel["mangled"], kernel["registers"]))
    for fault in faults:
        print("FAULT: " + fault)
    print("%d kernels for %s%s: %d faults" % (len({kernel["mangled"] for kernel in kernels}),
                                              ", ".join("sm_%d" % arch for arch in ARCHITECTURES),
                                              "" if tools[0] else ", without their machine code", len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
