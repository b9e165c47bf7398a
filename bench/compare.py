#!/usr/bin/env python3
"""Our convolutions beside PyTorch's, on the same shapes, threads and machine, alternating case by case.

    pip install torch
    bench/compare.py build/bench/conv2d_bench [--only googlenet:] [--ops forward,backward_input] [--batch 32]
                     [--threads 2] [--row cpu_avx2]

Our row is the one that the device "cpu" stands for on this machine, unless --row names another; it is printed first.
A ratio is the median of the best rival (PyTorch with NCHW or channels-last tensors) over our median: above 1 we are
faster. At the end: the geometric mean and the worst ratio for each net and kernel. Without PyTorch our times are
printed alone.
"""
import argparse
import collections
import csv
import json
import math
import os
import statistics
import subprocess
import time

from cpu_row import cpu_row

try:
    import torch
except ImportError:
    torch = None

OPS = ("forward", "backward_input", "backward_weight")


def read_shapes(prefixes):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conv_shapes.csv")
    with open(path) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            name = row.pop("name")
            if name.startswith(prefixes):
                yield name, {key: int(value) for key, value in row.items()}


def our_times(args, name, ops):
    """Median milliseconds of each op, from our benchmark program."""
    pattern = "^conv2d_(%s)/%s/%s/" % ("|".join(ops), name.replace(".", "[.]"), args.row)
    command = [args.program, "--threads=%d" % args.threads, "--batch=%d" % args.batch, "--describe=0",
               "--benchmark_filter=" + pattern,
               "--benchmark_format=json", "--benchmark_min_time=%g" % (args.seconds / 5), "--benchmark_repetitions=5",
               "--benchmark_report_aggregates_only=true"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    times = {}
    for run in json.loads(output)["benchmarks"] if output else []:  # empty where no benchmark has the name
        if run.get("aggregate_name") == "median":
            op = run["run_name"].split("/")[0][len("conv2d_"):]
            times[op] = (run["real_time"] * 1e-3, run.get("peak_share", float("nan")))
    return times


def median_ms(run, seconds):
    run()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def torch_times(args, shape, ops):
    """Median milliseconds of each op for each memory format."""
    stride, padding = [shape["stride_h"], shape["stride_w"]], [shape["pad_h"], shape["pad_w"]]
    dilation, groups = [shape["dilation"]] * 2, shape["groups"]
    times = {}
    for label, memory_format in (("NCHW", torch.contiguous_format), ("channels-last", torch.channels_last)):
        x = torch.randn(args.batch, shape["c"], shape["h"], shape["w"]).to(memory_format=memory_format)
        w = torch.randn(shape["k"], shape["c"] // groups, shape["r"], shape["s"]).to(memory_format=memory_format)
        bias = torch.randn(shape["k"])

        def forward():
            return torch.nn.functional.conv2d(x, w, bias, stride, padding, dilation, groups)

        dy = torch.randn_like(forward())

        def backward(mask):
            return lambda: torch.ops.aten.convolution_backward(dy, x, w, None, stride, padding, dilation, False, [0, 0],
                                                               groups, mask)

        runs = {"forward": forward, "backward_input": backward([True, False, False]),
                "backward_weight": backward([False, True, False])}
        with torch.no_grad():
            for op in ops:
                times.setdefault(op, {})[label] = median_ms(runs[op], args.seconds)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="our conv2d_bench")
    parser.add_argument("--only", default="", help="names that start so; several with commas")
    parser.add_argument("--ops", default=",".join(OPS))
    parser.add_argument("--row", help="our row: by default what cpu stands for")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0.25, help="for each op, case and library")
    args = parser.parse_args()
    args.row = args.row or cpu_row(args.program)
    print("libdnn's row: %s, %d threads" % (args.row, args.threads), flush=True)
    ops = args.ops.split(",")
    if torch:
        torch.set_num_threads(args.threads)
    ratios = collections.defaultdict(list)
    for name, shape in read_shapes(tuple(args.only.split(","))):
        rival = torch_times(args, shape, ops) if torch else {}
        ours = our_times(args, name, ops)
        for op in ops:
            if op not in ours:
                print("%-50s %-15s not measured" % (name, op), flush=True)
                continue
            ms, share = ours[op]
            line = "%-50s %-15s %9.3f ms %5.1f %% of peak" % (name, op, ms, 100 * share)
            if rival:
                best = min(rival[op].values())
                ratios[name.split(":")[0], op].append((best / ms, name))
                line += "  PyTorch " + ", ".join("%s %.3f ms" % item for item in rival[op].items())
                line += "  ratio %.2f" % (best / ms)
            print(line, flush=True)
    for (net, op), pairs in sorted(ratios.items()):
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in pairs))
        worst, case = min(pairs)
        print("%-20s %-15s geometric mean %.2f of %d, worst %.2f (%s)" % (net, op, mean, len(pairs), worst, case))


if __name__ == "__main__":
    main()
