#!/usr/bin/env python3
"""One MNIST epoch (60,000 pictures, batch 64): libdnn beside PyTorch and TensorFlow, in turn, on one machine.

    python3 -m venv venv && venv/bin/pip install torch tensorflow-cpu
    venv/bin/python bench/compare_mnist.py --bench build/bench/mnist_epoch [--threads 2] [--rounds 5]

Each round times every library once, one after the other, each after a warm-up of its own; rivals that are not
installed are left out and named. Prints the medians in ms and ratio = (best rival's median) / (libdnn's median).
PyTorch runs eagerly and compiled; TensorFlow's mnist_cnn has six 4x4 filters where ours and PyTorch's share one.
"""
import argparse, gzip, json, os, statistics, subprocess, time

from cpu_row import cpu_row

MODELS = ("mnist_cnn", "lenet")


def load(folder):
    import numpy as np
    x = np.frombuffer(gzip.open(os.path.join(folder, "train-images-idx3-ubyte.gz")).read(), np.uint8, offset=16)
    y = np.frombuffer(gzip.open(os.path.join(folder, "train-labels-idx1-ubyte.gz")).read(), np.uint8, offset=8)
    return x.reshape(-1, 28, 28).astype("f4") / 255, y.astype("i8")


def torch_epochs(x, y, threads, compiled):
    """A function for each model that trains one epoch."""
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.set_num_threads(threads)

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 4, 4)

        def forward(self, maps):
            n, c, h, w = maps.shape
            return self.conv(maps.reshape(n * c, 1, h, w)).reshape(n, c, h // 4, w // 4)

    nets = {
        "mnist_cnn": [nn.Conv2d(1, 6, 5), nn.Sigmoid(), Shared(), nn.Sigmoid(), nn.Flatten(), nn.Linear(216, 10)],
        "lenet": [nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Flatten(),
                  nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10)],
    }
    images, labels = torch.from_numpy(x)[:, None], torch.from_numpy(y)

    def trainer(stack):
        net = nn.Sequential(*stack)
        sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        run = torch.compile(net) if compiled else net

        def epoch(count=len(y)):
            order = torch.randperm(len(y))[:count // 64 * 64]  # whole batches: a short one would compile anew
            for pick in order.split(64):
                sgd.zero_grad()
                F.cross_entropy(run(images[pick]), labels[pick]).backward()
                sgd.step()

        epoch(6400)
        return epoch

    return {name: trainer(stack) for name, stack in nets.items()}


def tensorflow_epochs(x, y, threads):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    layer = tf.keras.layers
    nets = {
        "mnist_cnn": [layer.Conv2D(6, 5, activation="sigmoid"),
                      layer.DepthwiseConv2D(4, strides=4, activation="sigmoid"), layer.Flatten(), layer.Dense(10)],
        "lenet": [layer.Conv2D(20, 5), layer.MaxPool2D(2), layer.Conv2D(50, 5), layer.MaxPool2D(2), layer.Flatten(),
                  layer.Dense(500, activation="relu"), layer.Dense(10)],
    }

    def trainer(stack):
        net = tf.keras.Sequential([layer.Input((28, 28, 1))] + stack)
        net.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9),
                    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        net.fit(x[:6400, ..., None], y[:6400], batch_size=64, epochs=1, verbose=0)
        return lambda: net.fit(x[..., None], y, batch_size=64, epochs=1, verbose=0)

    return {name: trainer(stack) for name, stack in nets.items()}


def our_epoch(bench, model, row, env):
    command = [bench, f"--benchmark_filter=^mnist_epoch/{model}/{row}(/|$)", "--benchmark_format=json"]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["benchmarks"][0]["real_time"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/bench/mnist_epoch")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--data", default=os.path.join(here, "..", "data", "mnist"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--rivals", nargs="*", default=["torch", "torch_compile", "tensorflow"])
    parser.add_argument("--row", help="libdnn's row: by default what the device cpu stands for")
    args = parser.parse_args()
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), DNN_MNIST=args.data)
    row = args.row or cpu_row(args.bench, env)
    print(f"libdnn's row: {row}, {args.threads} threads", flush=True)
    x, y = load(args.data)
    makers = {
        "torch": lambda: torch_epochs(x, y, args.threads, False),
        "torch_compile": lambda: torch_epochs(x, y, args.threads, True),
        "tensorflow": lambda: tensorflow_epochs(x, y, args.threads),
    }
    rivals = {}
    for name in args.rivals:
        try:
            rivals[name] = makers[name]()
        except Exception as fault:
            print(f"{name} is left out: {type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else ''}")
    for model in args.models:
        times = {name: [] for name in ["libdnn", *rivals]}
        for _ in range(args.rounds):
            times["libdnn"].append(our_epoch(args.bench, model, row, env))
            for name, epochs in rivals.items():
                start = time.perf_counter()
                epochs[model]()
                times[name].append((time.perf_counter() - start) * 1e3)
        medians = {name: statistics.median(t) for name, t in times.items()}
        line = "  ".join(f"{name} {ms:.0f} ms" for name, ms in medians.items())
        print(f"{model}, {args.threads} threads: {line}", flush=True)
        if rivals:
            best = min(rivals, key=medians.get)
            print(f"{model}: ratio {medians[best] / medians['libdnn']:.2f} against {best}", flush=True)


if __name__ == "__main__":
    main()
