#pragma once
#include <functional>
#include <span>
#include <string>

#include <libdnn/layers/module.h>

namespace dnn {

// One call of a module, or of one that ran with those behind it in its own pass: a fused group.
struct ModuleCall {
  Module& module;
  std::span<Module* const> fused;  // the activations that ran in the module's pass

  // What a group adds to the module's own name and type: "+relu" behind "layer1.0.bn1", "+ReLU" behind "BatchNorm2d".
  std::string name_suffix() const;
  std::string type() const;
};

// Watches the modules that run in this thread until it ends, from the outermost to the innermost. Unlike a hook it
// leaves fusion as it is: a fused group is one call, and the output is that of the whole group.
class ModuleObserver {
 public:
  using Before = std::function<void(const ModuleCall&)>;
  using After = std::function<void(const ModuleCall&, const Tensor& output)>;  // not called where forward throws
  ModuleObserver(Before before, After after);
  ~ModuleObserver();
  ModuleObserver(const ModuleObserver&) = delete;
  ModuleObserver& operator=(const ModuleObserver&) = delete;

  static bool any();  // in this thread
  static void notify_before(const ModuleCall& call);
  static void notify_after(const ModuleCall& call, const Tensor& output);

 private:
  Before before_;
  After after_;
  const ModuleObserver* outer_;
};

}  // namespace dnn
