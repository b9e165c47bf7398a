// Every kernel that is bound by memory, on large arrays (those of AlexNet's first layers) and on MNIST's. GB/s count
// what one pass must read and write.
#include <bench/kernel.h>

#include <tuple>

namespace dnn::bench {
namespace {

Pool2dShape pool_shape(int n, int size, int c, int window, int stride, int pad) {
  Pool2dShape p;
  p.n = n, p.h = p.w = size, p.c = c;
  p.r = p.s = window;
  p.stride_h = p.stride_w = stride;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
  return p;
}

void add_pools(const std::string& name, const Pool2dShape& p) {
  const int64_t x = p.x_pixels() * p.c, y = p.y_pixels() * p.c;
  const double both = static_cast<double>(x + y), index = 0.25 * static_cast<double>(y);  // a byte each
  add_kernel("max_pool2d_forward/" + name, {x, y, y}, both + index,
             [=](Context& context, Table k, Arrays a) { k.max_pool2d_forward(context, p, a[0], a[1], a[2]); });
  add_kernel("max_pool2d_forward_no_index/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.max_pool2d_forward(context, p, a[0], a[1], nullptr); });
  add_kernel("max_pool2d_backward/" + name, {x, y, y}, both + index,
             [=](Context& context, Table k, Arrays a) { k.max_pool2d_backward(context, p, a[1], a[2], a[0]); });
  add_kernel("avg_pool2d_forward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.avg_pool2d_forward(context, p, a[0], a[1]); });
  add_kernel("avg_pool2d_backward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.avg_pool2d_backward(context, p, a[1], a[0]); });
}

// `rows` of `cols`, as activations with so many channels.
void add_activations(const std::string& name, const RowsShape& s) {
  const int64_t count = s.count();
  const double n = static_cast<double>(count);
  const BroadcastShape flat{1, {count}, {1}, {1}};
  const BroadcastShape channels{2, {s.rows, s.cols}, {s.cols, 1}, {0, 1}};
  add_kernel("relu/" + name, {count, count}, 2 * n, [=](Context& context, Table k, Arrays a) {
    k.unary_forward(context, Activation::relu, count, a[0], a[1]);
  });
  add_kernel("relu_backward/" + name, {count, count, count}, 3 * n, [=](Context& context, Table k, Arrays a) {
    k.unary_backward(context, Activation::relu, count, a[0], a[1], a[2]);
  });
  const auto add_unary = [&](const std::string& op, const UnaryParams& f) {
    add_kernel(op + "/" + name, {count, count}, 2 * n,
               [=](Context& context, Table k, Arrays a) { k.unary_forward(context, f, count, a[0], a[1]); });
  };
  add_unary("affine", {UnaryOp::affine, 2, 1});
  add_unary("clamp", {UnaryOp::clamp, -1, 1});
  add_unary("exp", {UnaryOp::exp});
  add_unary("log", {UnaryOp::log});
  add_unary("sqrt", {UnaryOp::sqrt});
  add_unary("sin", {UnaryOp::sin});
  add_unary("erf", {UnaryOp::erf});
  add_unary("sigmoid", Activation::sigmoid);
  add_unary("gelu", Activation::gelu);
  add_unary("mish", Activation::mish);
  for (const double power : {2.0, -0.75, 0.6}) {
    add_kernel("power_" + std::to_string(power).substr(0, 5) + "/" + name, {count, count}, 2 * n,
               [=](Context& context, Table k, Arrays a) {
                 k.unary_forward(context, {UnaryOp::pow, power, 0.1, 2}, count, a[0], a[1]);
               });
  }
  add_kernel("prelu/" + name, {count, count, s.cols}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.prelu_forward(context, s, a[0], a[2], a[1]); });
  add_kernel("prelu_backward/" + name, {count, count, count, s.cols, s.cols}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.prelu_backward(context, s, a[0], a[3], a[1], a[2], a[4]); });
  add_kernel("epilogue_bias_relu/" + name, {count, count, s.cols}, 2 * n, [=](Context& context, Table k, Arrays a) {
    k.epilogue(context, s, {a[2], nullptr, Activation::relu}, a[0], a[1]);
  });
  add_kernel("epilogue_backward_relu/" + name, {count, count, s.cols}, 3 * n, [=](Context& context, Table k, Arrays a) {
    k.epilogue_backward(context, s, Activation::relu, a[0], a[1], a[1], a[2]);
  });
  add_kernel("bias_gradient/" + name, {count, s.cols}, n, [=](Context& context, Table k, Arrays a) {
    k.epilogue_backward(context, s, Activation::none, nullptr, a[0], nullptr, a[1]);
  });
  add_kernel("add/" + name, {count, count, count}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.binary(context, BinaryOp::add, flat, a[0], a[1], a[2]); });
  add_kernel("add_channels/" + name, {count, s.cols, count}, 2 * n, [=](Context& context, Table k, Arrays a) {
    k.binary(context, BinaryOp::add, channels, a[0], a[1], a[2]);
  });
  add_kernel("maximum/" + name, {count, count, count}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.binary(context, BinaryOp::max, flat, a[0], a[1], a[2]); });
  add_kernel("pow/" + name, {count, count, count}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.binary(context, BinaryOp::pow, flat, a[0], a[1], a[2]); });
  add_kernel("compare/" + name, {count, count, count}, 2.25 * n, [=](Context& context, Table k, Arrays a) {
    k.compare(context, CompareOp::lt, flat, a[0], a[1], reinterpret_cast<uint8_t*>(a[2]));
  });
  add_kernel("where/" + name, {count, count, count, count}, 3.25 * n, [=](Context& context, Table k, Arrays a) {
    k.where(context, {1, {count}, {1}, {1}, {1}}, reinterpret_cast<const uint8_t*>(a[3]), a[0], a[1], a[2]);
  });
  add_kernel("dropout/" + name, {count, count}, 2 * n, [=](Context& context, Table k, Arrays a) {
    k.dropout(context, count, 0.5f, {1, 2}, a[0], a[1]);
  });
  add_kernel("fill_uniform/" + name, {count}, n, [=](Context& context, Table k, Arrays a) {
    k.fill_uniform(context, count, -1, 1, {1, 2}, a[0]);
  });
  add_kernel("fill_normal/" + name, {count}, n, [=](Context& context, Table k, Arrays a) {
    k.fill_normal(context, count, 0, 1, {1, 2}, a[0]);
  });
  const ReduceShape all{2, {s.rows, s.cols}, {true, true}}, rows{2, {s.rows, s.cols}, {false, true}};
  const ReduceShape columns{2, {s.rows, s.cols}, {true, false}};
  add_kernel("sum/" + name, {count, 1}, n,
             [=](Context& context, Table k, Arrays a) { k.reduce(context, ReduceOp::sum, all, 1, a[0], a[1]); });
  add_kernel("sum_of_rows/" + name, {count, s.rows}, n,
             [=](Context& context, Table k, Arrays a) { k.reduce(context, ReduceOp::sum, rows, 1, a[0], a[1]); });
  add_kernel("sum_of_columns/" + name, {count, s.cols}, n,
             [=](Context& context, Table k, Arrays a) { k.reduce(context, ReduceOp::sum, columns, 1, a[0], a[1]); });
  for (const auto& [part, shape, results] :
       {std::tuple("", all, int64_t{1}), {"_of_rows", rows, s.rows}, {"_of_columns", columns, int64_t{s.cols}}}) {
    add_kernel(std::string("max") + part + "/" + name, {count, results}, n,
               [=, shape = shape](Context& context, Table k, Arrays a) {
                 k.reduce(context, ReduceOp::max, shape, 1, a[0], a[1]);
               });
    add_kernel(std::string("prod") + part + "/" + name, {count, results}, n,
               [=, shape = shape](Context& context, Table k, Arrays a) {
                 k.reduce(context, ReduceOp::prod, shape, 1, a[0], a[1]);
               });
    add_kernel(
        std::string("moments") + part + "/" + name, {count, results, results}, n,
        [=, shape = shape](Context& context, Table k, Arrays a) { k.moments(context, shape, 1, a[0], a[1], a[2]); });
  }
}

// As a convolution's output with so many channels. Forward in training reads x twice, backward x and dy.
void add_batch_norm(const std::string& name, const RowsShape& s) {
  const int64_t count = s.count(), c = s.cols;
  const double n = static_cast<double>(count);
  BatchNormParams eval;
  eval.training = false;
  add_kernel("batch_norm/" + name, {count, count, c, c, c}, 3 * n, [=](Context& context, Table k, Arrays a) {
    k.batch_norm_forward(context, s, {}, {a[2], nullptr, Activation::relu, a[2]},
                         {.x = a[0], .y = a[1], .mean = a[3], .inv_std = a[4]});
  });
  add_kernel("batch_norm_residual/" + name, {count, count, c, c, c, count}, 4 * n,
             [=](Context& context, Table k, Arrays a) {
               k.batch_norm_forward(context, s, {}, {a[2], a[5], Activation::relu, a[2]},
                                    {.x = a[0], .y = a[1], .mean = a[3], .inv_std = a[4]});
             });
  add_kernel("batch_norm_eval/" + name, {count, count, c, c, c}, 2 * n, [=](Context& context, Table k, Arrays a) {
    std::fill_n(a[2], s.cols, 1.0f);
    k.batch_norm_forward(
        context, s, eval, {a[2], nullptr, Activation::relu, a[2]},
        {.x = a[0], .running_mean = a[2], .running_var = a[2], .y = a[1], .mean = a[3], .inv_std = a[4]});
  });
  add_kernel("batch_norm_backward/" + name, {count, count, count, c, c, c}, 5 * n,
             [=](Context& context, Table k, Arrays a) {
               k.batch_norm_backward(context, s, {}, Activation::relu,
                                     {.x = a[0],
                                      .mean = a[3],
                                      .inv_std = a[3],
                                      .weight = a[3],
                                      .bias = a[3],
                                      .dy = a[1],
                                      .dx = a[2],
                                      .dweight = a[4],
                                      .dbias = a[5]});
             });
  add_kernel("batch_norm_backward_residual/" + name, {count, count, count, c, c, c, count}, 7 * n,
             [=](Context& context, Table k, Arrays a) {
               k.batch_norm_backward(context, s, {}, Activation::relu,
                                     {.x = a[0],
                                      .mean = a[3],
                                      .inv_std = a[3],
                                      .weight = a[3],
                                      .bias = a[3],
                                      .y = a[6],
                                      .dy = a[1],
                                      .dx = a[2],
                                      .dresidual = a[1],
                                      .dweight = a[4],
                                      .dbias = a[5]});
             });
}

void add_lrn(const std::string& name, const RowsShape& s) {
  const int64_t count = s.count();
  const double n = static_cast<double>(count);
  const LrnShape lrn{s.rows, s.cols};
  add_kernel("lrn/" + name, {count, count}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.lrn_forward(context, lrn, a[0], a[1]); });
  add_kernel("lrn_backward/" + name, {count, count, count}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.lrn_backward(context, lrn, a[0], a[1], a[2]); });
}

void add_softmax(const std::string& name, const RowsShape& s) {
  const int64_t count = s.count();
  const double n = static_cast<double>(count);
  const std::vector<int32_t> labels(static_cast<size_t>(s.rows), s.cols / 2);
  const AxisShape along{s.rows, s.cols};
  add_kernel("softmax/" + name, {count, count}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.softmax_forward(context, along, a[0], a[1]); });
  add_kernel("softmax_backward/" + name, {count, count, count}, 3 * n,
             [=](Context& context, Table k, Arrays a) { k.softmax_backward(context, along, a[0], a[1], a[2]); });
  add_kernel("log_softmax/" + name, {count, count}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.log_softmax_forward(context, along, a[0], a[1]); });
  add_kernel("softmax_cross_entropy/" + name, {count, count, 1}, 2 * n, [=](Context& context, Table k, Arrays a) {
    k.softmax_cross_entropy(context, s, {}, a[0], labels.data(), nullptr, a[2], a[1]);
  });
  add_kernel("nll_loss/" + name, {count, count, 1}, n, [=](Context& context, Table k, Arrays a) {
    k.nll_loss(context, s, {}, a[0], labels.data(), nullptr, a[2], a[1]);
  });
  add_kernel("batch_metrics/" + name, {count, 1, sizeof(BatchSums) / sizeof(float)}, n,
             [=](Context& context, Table k, Arrays a) {
               k.batch_metrics(context, s, 1, a[1], a[0], labels.data(), reinterpret_cast<BatchSums*>(a[2]));
             });
  for (const auto& [loss, kind] :
       {std::pair("mse_loss/", PointwiseLoss::mse), {"bce_with_logits/", PointwiseLoss::bce_with_logits}}) {
    add_kernel(loss + name, {count, count, count, 1}, 3 * n, [=, kind = kind](Context& context, Table k, Arrays a) {
      k.pointwise_loss(context, {kind, 0, 1}, count, a[0], a[1], a[3], a[2]);
    });
  }
  const AxisShape along_rows{s.rows, s.cols, 1}, along_columns{1, static_cast<int>(s.rows), s.cols};
  add_kernel("argmax/" + name, {count, s.rows}, n, [=](Context& context, Table k, Arrays a) {
    k.arg_reduce(context, ArgOp::max, along_rows, a[0], reinterpret_cast<int32_t*>(a[1]));
  });
  add_kernel("argmax_of_columns/" + name, {count, s.cols}, n, [=](Context& context, Table k, Arrays a) {
    k.arg_reduce(context, ArgOp::max, along_columns, a[0], reinterpret_cast<int32_t*>(a[1]));
  });
  add_kernel("cumsum/" + name, {count, count}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.cumsum(context, along_rows, false, a[0], a[1]); });
  add_kernel("topk_5/" + name, {count, 5 * s.rows, 5 * s.rows}, n, [=](Context& context, Table k, Arrays a) {
    k.topk(context, along_rows, 5, true, a[0], a[1], reinterpret_cast<int32_t*>(a[2]));
  });
}

void add_adaptive_pool(const std::string& name, const ResizeShape& p) {
  const int64_t x = p.x_pixels() * p.c, y = p.y_pixels() * p.c;
  add_kernel("adaptive_avg_pool2d_forward/" + name, {x, y}, static_cast<double>(x + y),
             [=](Context& context, Table k, Arrays a) { k.adaptive_avg_pool2d_forward(context, p, a[0], a[1]); });
  add_kernel("adaptive_avg_pool2d_backward/" + name, {x, y}, static_cast<double>(x + y),
             [=](Context& context, Table k, Arrays a) { k.adaptive_avg_pool2d_backward(context, p, a[1], a[0]); });
}

void add_scale_channels(const std::string& name, const ChannelScaleShape& s) {
  const int64_t count = s.count(), factors = int64_t{s.n} * s.c;
  const double n = static_cast<double>(count);
  add_kernel("scale_channels_forward/" + name, {count, factors, count}, 2 * n,
             [=](Context& context, Table k, Arrays a) { k.scale_channels_forward(context, s, a[0], a[1], a[2]); });
  add_kernel("scale_channels_backward/" + name, {count, factors, count, count, factors}, 3 * n,
             [=](Context& context, Table k, Arrays a) {
               k.scale_channels_backward(context, s, a[0], a[1], a[2], a[3], a[4]);
             });
}

void add_upsample(const std::string& name, const ResizeShape& p) {
  const int64_t x = p.x_pixels() * p.c, y = p.y_pixels() * p.c;
  const double both = static_cast<double>(x + y);
  add_kernel("upsample_nearest2d_forward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.upsample_nearest2d_forward(context, p, a[0], a[1]); });
  add_kernel("upsample_nearest2d_backward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.upsample_nearest2d_backward(context, p, a[1], a[0]); });
  add_kernel("upsample_bilinear2d_forward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.upsample_bilinear2d_forward(context, p, a[0], a[1]); });
  add_kernel("upsample_bilinear2d_backward/" + name, {x, y}, both,
             [=](Context& context, Table k, Arrays a) { k.upsample_bilinear2d_backward(context, p, a[1], a[0]); });
}

void add_sgd(const std::string& name, int64_t count) {
  SgdParams params;
  params.lr = 0.01, params.momentum = 0.9, params.weight_decay = 5e-4;
  add_kernel("sgd_step/" + name, {count, count, count}, 5.0 * static_cast<double>(count),
             [=](Context& context, Table k, Arrays a) { k.sgd_step(context, count, params, a[0], a[1], a[2]); });
}

}  // namespace

void register_benchmarks(int batch) {
  const int mnist = 2 * batch;  // 64 where the others have 32
  add_pools("2x2s2 24x24x20", pool_shape(mnist, 24, 20, 2, 2, 0));
  add_pools("2x2s2 8x8x50", pool_shape(mnist, 8, 50, 2, 2, 0));
  add_pools("3x3s2 55x55x96", pool_shape(batch, 55, 96, 3, 2, 0));
  add_pools("3x3s1p1 28x28x192", pool_shape(batch, 28, 192, 3, 1, 1));
  add_pools("7x7s7 55x55x96", pool_shape(batch, 55, 96, 7, 7, 0));
  add_activations("24x24x20", {int64_t{mnist} * 24 * 24, 20});
  add_activations("24x24x6", {int64_t{mnist} * 24 * 24, 6});
  add_activations("500", {mnist, 500});
  add_activations("4096", {batch, 4096});
  add_activations("55x55x96", {int64_t{batch} * 55 * 55, 96});
  add_batch_norm("7x7x512", {int64_t{batch} * 7 * 7, 512});
  add_batch_norm("56x56x64", {int64_t{batch} * 56 * 56, 64});
  add_batch_norm("112x112x64", {int64_t{batch} * 112 * 112, 64});
  add_lrn("55x55x96", {int64_t{batch} * 55 * 55, 96});
  add_lrn("27x27x256", {int64_t{batch} * 27 * 27, 256});
  add_softmax("10", {mnist, 10});
  add_softmax("1000", {batch, 1000});
  add_softmax("290400", {batch, 290400});
  add_adaptive_pool("7x7x2048 to 1x1", {batch, 7, 7, 2048, 1, 1});
  add_adaptive_pool("13x13x256 to 6x6", {batch, 13, 13, 256, 6, 6});
  add_adaptive_pool("one 512x512x64 to 1x1", {1, 512, 512, 64, 1, 1});
  add_scale_channels("56x56x72", {batch, 56 * 56, 72});
  add_scale_channels("7x7x960", {batch, 7 * 7, 960});
  add_upsample("28x28x64 to 56x56", {batch, 28, 28, 64, 56, 56});
  add_upsample("65x65x21 to 513x513", {batch / 8, 65, 65, 21, 513, 513});
  add_sgd("430k", 430000);
  add_sgd("30M", 30000000);
}

}  // namespace dnn::bench
