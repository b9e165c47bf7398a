#!/usr/bin/env python3
"""Writes indexing.json: what PyTorch makes of slices, permutations, repetitions and indices, and their gradients.

x counts from 0; the gradient of element i of result j is i % 7 + 1 + j. Both are small whole numbers, so exact.
"""
import json
import random

import torch

random.seed(1)
cases = []


def add(op, shape, args, f):
    count = 1
    for size in shape:
        count *= size
    x = torch.arange(count, dtype=torch.float64).reshape(shape).requires_grad_(True)
    results = f(x)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    grads = [((torch.arange(y.numel()) % 7) + 1 + j).double().reshape(y.shape) for j, y in enumerate(results)]
    torch.autograd.backward(results, grads)

    def whole(t):
        return [int(v) for v in t.flatten().tolist()]

    cases.append({
        "op": op, "shape": list(shape), "args": args,
        "y": [{"shape": list(y.shape), "values": whole(y.detach())} for y in results],
        "dx": whole(x.grad) if x.grad is not None else [0] * count,
    })


def shapes():
    yield from [(1,), (5,), (0,), (1, 1), (2, 3), (3, 0, 2), (4, 1, 3), (2, 3, 4), (1, 5, 1, 2), (2, 1, 3, 2),
                (2, 3, 1, 2, 2), (2, 1, 2, 3, 1, 2)]




for shape in shapes():
    dims = len(shape)
    for dim in {0, dims - 1, -1, dims // 2}:
        size = shape[dim]
        place = dim if dim >= 0 else dim + dims
        for start, stop, step in [(0, 2, 1), (1, 100, 1), (-2, size, 1), (0, -1, 2), (3, 1, 1), (-100, 100, 3)]:
            index = (slice(None),) * place + (slice(start, stop, step),)
            add("slice", shape, [dim, start, stop, step], lambda x, i=index: x[i])
        if size:
            for at in {0, -1, size - 1, -size}:
                add("select", shape, [dim, at], lambda x: torch.select(x, dim, at))
            add("narrow", shape, [dim, size // 2, size - size // 2], lambda x: torch.narrow(x, dim, size // 2, size - size // 2))
            index = [random.randrange(size) for _ in range(4)]
            add("index_select", shape, [dim] + index, lambda x: torch.index_select(x, dim, torch.tensor(index)))
            sizes = [random.randint(min(1, s), s) if d != place else 3 for d, s in enumerate(shape)]
            if 0 not in shape:
                each = torch.randint(size, sizes, generator=torch.Generator().manual_seed(len(cases)))
                add("gather", shape, [dim] + sizes + each.flatten().tolist(), lambda x: torch.gather(x, dim, each))
        add("flip", shape, [dim], lambda x: torch.flip(x, [dim]))
        add("split", shape, [2, dim], lambda x: torch.split(x, 2, dim))
        add("chunk", shape, [3, dim], lambda x: torch.chunk(x, 3, dim))
        add("unsqueeze", shape, [dim], lambda x: torch.unsqueeze(x, dim)) if dims < 6 else None
        add("squeeze", shape, [dim], lambda x: torch.squeeze(x, dim))
        add("transpose", shape, [dim, 0], lambda x: torch.transpose(x, dim, 0))
        add("cat", shape, [dim], lambda x: torch.cat([x, x], dim))
        add("stack", shape, [dim], lambda x: torch.stack([x, x], dim)) if dims < 6 else None
    add("flip", shape, list(range(dims)), lambda x: torch.flip(x, list(range(dims))))
    add("squeeze", shape, [], lambda x: torch.squeeze(x))
    for _ in range(2):
        order = list(range(dims))
        random.shuffle(order)
        add("permute", shape, order, lambda x: x.permute(order))
    sizes = [3 if s == 1 else -1 for s in shape]
    add("expand", shape, sizes, lambda x: x.expand(sizes))
    if dims < 5:
        add("expand", shape, [2] + list(shape), lambda x: x.expand([2] + list(shape)))
        times = [2, 1] + [random.randint(0, 2) for _ in shape][1:]
        add("repeat", shape, times + [2], lambda x: x.repeat(times + [2])) if dims < 4 else None
    times = [random.choice([1, 2, 3]) for _ in shape]
    add("repeat", shape, times, lambda x: x.repeat(times))

for shape in [(3, 2), (1, 5), (4, 1)]:
    index = [random.randrange(shape[0]) for _ in range(6)]
    add("embedding", shape, index, lambda x: torch.nn.functional.embedding(torch.tensor(index).reshape(2, 3), x))
add("select", (4,), [0, 2], lambda x: x[2])

with open(__file__.replace(".py", ".json"), "w", encoding="utf-8") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
