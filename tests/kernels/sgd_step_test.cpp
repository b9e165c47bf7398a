#include "rows.h"

namespace dnn::test {
namespace {

const auto kSgd = &Kernels<float>::sgd_step;

TEST_CASE("sgd_step: values by hand", "[sgd_step]") {
  const Buffer<float> dw({0.5f, -2});
  for (const Backend* row : rows_with(kSgd)) {
    INFO(row->name);
    Context context(*row);
    Buffer<float> w({1, 2});
    row->f32.sgd_step(context, 2, {0.1, 0, 0, false}, dw.get(), nullptr, w.get());
    check_values<float>(w, {0.95f, 2.2f});
    row->f32.sgd_step(context, 2, {0.1, 0, 0.5, false}, dw.get(), nullptr, w.get());
    check_values<float>(w, {0.8525f, 2.29f});

    // Two steps with momentum: the velocity is g, then 0.9 g + g.
    w = Buffer<float>({1, 2});
    Buffer<float> velocity(2, 0);
    row->f32.sgd_step(context, 2, {0.1, 0.9, 0, false}, dw.get(), velocity.get(), w.get());
    check_values<float>(velocity, {0.5f, -2});
    check_values<float>(w, {0.95f, 2.2f});
    row->f32.sgd_step(context, 2, {0.1, 0.9, 0, false}, dw.get(), velocity.get(), w.get());
    check_values<float>(velocity, {0.95f, -3.8f});
    check_values<float>(w, {0.855f, 2.58f});

    w = Buffer<float>({1, 2});
    velocity = Buffer<float>(2, 0);
    row->f32.sgd_step(context, 2, {0.1, 0.9, 0, true}, dw.get(), velocity.get(), w.get());
    check_values<float>(velocity, {0.5f, -2});
    check_values<float>(w, {0.905f, 2.38f});
  }
}

TEST_CASE("sgd_step: every row against the reference", "[sgd_step]") {
  const std::vector<SgdParams> all{{0.01, 0, 0, false},  {0.01, 0, 5e-4, false},  {0.1, 0.9, 0, false},
                                   {0, 0.9, 0.1, false}, {0.1, 0.9, 5e-4, false}, {0.1, 0.95, 5e-4, true}};
  std::vector<int> counts{0, 100003};
  counts.insert(counts.end(), odd_sizes().begin(), odd_sizes().end());
  for (const Backend* row : rows_with(kSgd)) {
    for (const SgdParams& params : all) {
      for (const int count : counts) {
        INFO(row->name << ", " << count << " values, lr " << params.lr << ", momentum " << params.momentum
                       << ", weight_decay " << params.weight_decay << ", nesterov " << params.nesterov);
        const bool with_velocity = params.momentum != 0;
        const auto dw = Buffer<float>::random(count, 1);
        auto w = Buffer<float>::random(count, 2), velocity = Buffer<float>::random(count, 3);
        Buffer<double> w64 = convert<double>(w), velocity64 = convert<double>(velocity);
        Context context(*row), reference(reference_row());
        row->f32.sgd_step(context, count, params, dw.get(), with_velocity ? velocity.get() : nullptr, w.get());
        reference_row().f64.sgd_step(reference, count, params, convert<double>(dw).get(),
                                     with_velocity ? velocity64.get() : nullptr, w64.get());
        check_close(w, w64, 2.0, 1);
        check_close(velocity, velocity64, 2.0, 1);
      }
    }
  }
}

}  // namespace
}  // namespace dnn::test
