#pragma once
#include <string>
#include <vector>

namespace dnn {

struct EpochReport;

// Makes the folder of a run and shows that files can be written there: what cannot be saved is said before training.
void prepare_run_folder(const std::string& folder);

// One line an epoch, CSV: epoch, iterations, lr, train_loss, train_accuracy, test_loss, test_accuracy, seconds,
// images_per_s; accuracies in [0, 1].
void write_log(const std::string& path, const std::vector<EpochReport>& epochs);

}  // namespace dnn
