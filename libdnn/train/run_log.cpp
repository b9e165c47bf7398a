#include <libdnn/train/run_log.h>

#include <fmt/format.h>

#include <filesystem>

#include <kernels/error.h>
#include <libdnn/formats/atomic_file.h>
#include <libdnn/train/trainer.h>

namespace dnn {

void prepare_run_folder(const std::string& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) throw Error(fmt::format("[train] cannot make the folder {}: {}", folder, fault.message()));
  // Opening and leaving a file again tells now whether the weights can be written later.
  const AtomicFile probe((std::filesystem::path(folder) / "weights.safetensors").string());
}

void write_log(const std::string& path, const std::vector<EpochReport>& epochs) {
  std::string text = "epoch,iterations,lr,train_loss,train_accuracy,test_loss,test_accuracy,seconds,images_per_s\n";
  for (const EpochReport& e : epochs) {
    text += fmt::format("{},{},{:.9g},{:.9g},{:.6f},{:.9g},{:.6f},{:.3f},{:.1f}\n", e.epoch, e.iterations, e.lr,
                        e.train_loss, e.train_accuracy, e.test_loss, e.test_accuracy, e.seconds, e.images_per_s);
  }
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace dnn
