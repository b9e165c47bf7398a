#pragma once
// All operations: free functions on tensors, recorded on the tape.
#include <libdnn/ops/activation.h>
#include <libdnn/ops/adaptive_avg_pool2d.h>
#include <libdnn/ops/argmax.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/concat.h>
#include <libdnn/ops/conv2d.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/ops/dropout.h>
#include <libdnn/ops/flatten.h>
#include <libdnn/ops/linear.h>
#include <libdnn/ops/matmul.h>
#include <libdnn/ops/pool2d.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/shared_conv2d.h>
#include <libdnn/ops/softmax.h>
#include <libdnn/ops/transpose.h>
