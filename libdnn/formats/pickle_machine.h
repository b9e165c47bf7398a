#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <libdnn/formats/pickle.h>

namespace dnn::pickle {

// The machine that a pickle is a program for: a stack, marks on it, and a memo. It fills a Pickle.
class Machine {
 public:
  Machine(Pickle& pickle, std::string_view bytes, const std::vector<std::string_view>& allowed,
          const std::string& where)
      : pickle_(pickle), bytes_(bytes), allowed_(allowed), where_(where) {}

  void run();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(uint8_t opcode) const;
  bool step();  // one operation; false at the end

  // Bytes.
  std::string_view take(uint64_t count);
  std::string_view line();
  template <class T>
  T number() {  // little-endian
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  // The stack.
  void push(Value value);
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Value& top();
  Value pop();
  Values pop_many(size_t count);
  void mark();
  Values pop_to_mark();
  void pop_value_or_mark();
  Values* keep(Values values);

  // Containers.
  void append(const Values& values);
  void set_items(const Values& values);
  void add_items();

  // The memo.
  void put(uint64_t index);
  void get(uint64_t index);

  // Names, calls and objects.
  Value name(std::string_view module, std::string_view name);
  void stack_global();
  Value ordered_dict(const Values& arguments);
  void call();
  void build();
  void make_instance(const Value& of_class);
  void persistent();

  // Numbers.
  void integer(std::string_view bytes);
  void binary_float();

  void protocol();
  void frame();
  void stop();

  Pickle& pickle_;
  std::string_view bytes_;
  const std::vector<std::string_view>& allowed_;
  const std::string& where_;
  size_t at_ = 0;
  Values stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::deque<Value> memo_;
  std::deque<bool> known_;
  size_t copied_ = 0;
};

}  // namespace dnn::pickle
