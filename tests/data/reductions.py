"""Writes reductions.json beside itself: PyTorch's reductions, comparisons and the like with their gradients.

Operand number j holds ((7 * i + 3 * j) % 11 - 5) / 4 at place i, with zeros and equal values; "positive" ones that
number's absolute value + 0.25; "distinct" ones ((37 * i) % 101 - 50) / 4. The upstream gradient of result number r is
((i + r) % 5 - 2) / 2. NaN is null, infinities are "inf" and "-inf".
"""
import json
import math
import os

import torch

SHAPES = [[], [1], [5], [3, 4], [1, 7], [4, 1, 3], [2, 3, 4], [2, 1, 3, 3], [2, 3, 1, 1, 2], [2, 1, 2, 1, 1, 3],
          [0], [0, 3], [2, 0, 3]]
PAIRS = [[[], []], [[4], []], [[3, 4], [4]], [[3, 1], [1, 5]], [[2, 3, 4], [3, 1]], [[2, 1, 3], [4, 1]],
         [[1, 2, 1, 3], [2, 2, 1]], [[2, 1, 2, 1, 3], [3, 1, 2, 1]], [[1, 2, 1, 2, 1, 2], [2, 1, 3, 1, 1, 1]],
         [[0, 3], [3]], [[2, 0], [2, 1]]]
TRIPLES = [[[], [], []], [[5], [], [5]], [[3, 1], [3, 4], [4]], [[4], [3, 1], []], [[2, 1, 3], [4, 1], [2, 4, 3]],
           [[1, 2, 1, 2, 1, 2], [2, 1, 3, 1, 1, 1], [2]], [[0, 3], [3], [1]]]


def operand(shape, j, kind):
    count = torch.Size(shape).numel()
    values = [((7 * i + 3 * j) % 11 - 5) / 4 for i in range(count)]
    if kind == "positive":
        values = [abs(value) + 0.25 for value in values]
    if kind == "distinct":
        values = [((37 * i) % 101 - 50) / 4 for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


def numbers(t):
    return [None if math.isnan(v) else str(v) if math.isinf(v) else float(f"{v:.10g}") for v in t.detach().to(torch.float64).flatten().tolist()]


def case(op, f, shapes, kind="plain", **arguments):
    operands = [operand(shape, j, kind) for j, shape in enumerate(shapes)]
    results = f(*operands)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    upstream = [torch.tensor([((i + r) % 5 - 2) / 2 for i in range(y.numel())], dtype=torch.float64).reshape(y.shape)
                for r, y in enumerate(results)]
    recorded = [(y, dy) for y, dy in zip(results, upstream) if y.requires_grad]
    entry = {"op": op, "shapes": shapes, "kind": kind, **arguments,
             "results": [{"shape": list(y.shape), "values": numbers(y)} for y in results]}
    if recorded:
        torch.autograd.backward([y for y, _ in recorded], [dy for _, dy in recorded])
        entry["gradients"] = [numbers(torch.zeros_like(x) if x.grad is None else x.grad) for x in operands]
    return entry


def choices(shape):
    """Dimensions to reduce: all, each, the outer ones, every other one."""
    n = len(shape)
    found = [[]] + [[d] for d in range(n)]
    if n >= 2:
        found += [[-1, 0]]
    if n >= 3:
        found += [list(range(0, n, 2)), list(range(1, n, 2))]
    return found


def prod(x, dims, keep):
    dims = [d % x.dim() for d in dims] if dims else list(range(x.dim()))
    others = [d for d in range(x.dim()) if d not in dims]
    y = x.permute(others + dims).flatten(len(others)).prod(-1) if dims else x.prod()
    return y.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keep else y


def over(f):
    return lambda dims, keep: lambda x: f(x, dims if dims else list(range(x.dim())), keep)


REDUCTIONS = {
    "sum": over(lambda x, dims, keep: x.sum(dims, keep)), "mean": over(lambda x, dims, keep: x.mean(dims, keep)),
    "prod": lambda dims, keep: lambda x: prod(x, dims, keep),
    "amax": over(lambda x, dims, keep: x.amax(dims, keep)), "amin": over(lambda x, dims, keep: x.amin(dims, keep)),
    "all": over(lambda x, dims, keep: (x != 0).all(dims, keep) if dims else (x != 0).all()),
    "any": over(lambda x, dims, keep: (x != 0).any(dims, keep) if dims else (x != 0).any()),
}
golden = []
for shape in SHAPES:
    empty = 0 in shape
    for dims in choices(shape):
        keep = len(dims) % 2 == 1
        cells = torch.Size([shape[d] for d in (dims or range(len(shape)))]).numel()
        for op, f in REDUCTIONS.items():
            if op in ("amax", "amin") and cells == 0:
                continue
            golden.append(case(op, f(dims, keep), [shape], dims=dims, keep=keep))
        for correction in [0, 1] if shape != [] else [0]:
            arguments = {"dims": dims, "correction": correction, "keep": keep}
            call = {"dim": dims or None, "correction": correction, "keepdim": keep}
            if correction == 0 and keep and len(shape) > 2:
                continue
            golden.append(case("var", lambda x: torch.var(x, **call), [shape], **arguments))
            golden.append(case("std", lambda x: torch.std(x, **call), [shape], **arguments))
            if correction == 1 and not keep:
                continue
            golden.append(case("var_mean", lambda x: torch.var_mean(x, **call), [shape], **arguments))
    for dim in range(-1, len(shape) - 1):
        golden.append(case("cumsum", lambda x: x.cumsum(dim), [shape], dim=dim))
        for k in sorted({0, 2, shape[dim]}):
            if k > shape[dim]:
                continue
            for largest in [True, False]:
                golden.append(case("topk", lambda x: x.topk(k, dim, largest), [shape], "distinct", dim=dim, k=k,
                                   largest=largest))
        if shape[dim] == 0:
            continue
        for keep in [False, True]:
            golden.append(case("max", lambda x: x.max(dim, keep), [shape], dim=dim, keep=keep))
            golden.append(case("min", lambda x: x.min(dim, keep), [shape], dim=dim, keep=keep))
            golden.append(case("argmax", lambda x: x.argmax(dim, keep), [shape], dim=dim, keep=keep))
            golden.append(case("argmin", lambda x: x.argmin(dim, keep), [shape], dim=dim, keep=keep))
for pair in PAIRS:
    for op in ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "maximum", "minimum"]:
        golden.append(case(op, getattr(torch, op), pair))
    for kind in ["plain", "positive"]:
        golden.append(case("pow", torch.pow, pair, kind))
for triple in TRIPLES:
    golden.append(case("where", lambda c, a, b: torch.where(c > 0, a, b), triple))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reductions.json"), "w") as file:
    json.dump(golden, file, separators=(",", ":"))
    file.write("\n")
