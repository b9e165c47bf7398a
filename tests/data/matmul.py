"""Writes matmul.json beside itself: torch.matmul and torch.nn.functional.linear with their gradients.

Operand number j holds ((7 * i + 3 * j) % 11 - 5) / 4 at place i, the upstream gradient (i % 5 - 2) / 2.
"""
import json
import os

import torch

MATMUL = [
    [[4], [4]], [[4], [4, 3]], [[2, 4], [4]], [[4], [3, 4, 2]], [[3, 2, 4], [4]], [[2, 3], [3, 2]],
    [[3, 2, 4], [4, 3]], [[2, 4], [3, 4, 2]], [[3, 2, 4], [3, 4, 1]], [[3, 1, 4], [1, 4, 5]],
    [[1, 2, 4], [3, 4, 2]], [[2, 1, 2, 3], [3, 3, 2]], [[2, 3, 1, 5], [1, 3, 5, 2]], [[2, 1, 2, 2], [1, 3, 2, 2]],
    [[2, 1, 3, 1, 2, 2], [3, 1, 2, 2, 2]], [[2, 3, 0], [2, 0, 2]], [[2, 0, 3], [3, 2]], [[0, 2, 3], [3, 2]],
]
LINEAR = [[[4], [3, 4]], [[2, 4], [3, 4]], [[2, 3, 4], [5, 4]], [[2, 1, 3, 2], [4, 2]], [[2, 0, 3], [4, 3]]]


def operand(shape, j):
    count = torch.Size(shape).numel()
    return torch.tensor([((7 * i + 3 * j) % 11 - 5) / 4 for i in range(count)],
                        dtype=torch.float64).reshape(shape).requires_grad_()


def case(f, shapes):
    operands = [operand(shape, j) for j, shape in enumerate(shapes)]
    y = f(*operands)
    upstream = torch.tensor([(i % 5 - 2) / 2 for i in range(y.numel())], dtype=torch.float64).reshape(y.shape)
    y.backward(upstream)
    return {"shapes": shapes, "shape": list(y.shape), "y": y.flatten().tolist(),
            "gradients": [x.grad.flatten().tolist() for x in operands]}


golden = {
    "matmul": [case(torch.matmul, shapes) for shapes in MATMUL],
    "linear": [case(torch.nn.functional.linear, shapes + [[shapes[1][0]]]) for shapes in LINEAR],
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "matmul.json"), "w") as file:
    json.dump(golden, file, separators=(",", ":"))
    file.write("\n")
