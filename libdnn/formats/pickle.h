#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dnn::pickle {

// Python's pickles, protocols 2 to 5 (PEP 307, 3154 and 574; the operations are described in Python's pickletools), as
// data alone: nothing is imported and nothing is called. A call of one of the names that the caller allows is recorded,
// not made. Every other object, whatever its class, is an Opaque: a value without content. Error only for bytes that
// no pickler writes.
struct Value;
using Values = std::vector<Value>;

struct None {};
struct BigInteger {  // beyond 64 bits: two's complement, little-endian
  std::string_view bytes;
};
struct Text {
  std::string_view text;
};
struct Bytes {
  std::string_view bytes;
};
struct Tuple {
  const Values* items;
};
struct List {
  Values* items;
};
struct Dict {     // an OrderedDict too
  Values* items;  // key, value, key, value, ...; a key may come twice
};
struct Global {
  std::string_view name;  // one of those allowed: "torch._utils._rebuild_tensor_v2"
};
struct Name {
  std::string_view module, name;  // "argparse", "Namespace"
};
struct Opaque {
  const Name* of;  // the class or function that it is or was made by; null where the pickle names none
};
struct Call {
  const Values* parts;  // the function, a Global, and its arguments, a Tuple
};
struct Persistent {
  const Values* id;  // one value: what the pickle says instead of an object that is stored outside
};

struct Value {
  std::variant<None, bool, int64_t, double, BigInteger, Text, Bytes, Tuple, List, Dict, Global, Call, Persistent,
               Opaque>
      of;

  template <class T>
  const T* as() const {  // null where it is no T
    return std::get_if<T>(&of);
  }
};

// One pickle, read from the beginning of `bytes`, which must outlive it: texts are parts of them. Time and memory grow
// with the bytes alone, memory to less than 64 times theirs. Nothing recurses; a value may contain itself, so a walk
// through values needs a limit of its own. `where` begins the messages of errors: "[read_pth] FILE".
class Pickle {
 public:
  Pickle(std::string_view bytes, const std::vector<std::string_view>& allowed, const std::string& where);
  Pickle(Pickle&&) = default;  // what values point to stays where it is

  const Value& root() const { return root_; }
  int64_t size() const { return size_; }                             // how many bytes the pickle took
  const std::deque<Values>& persistent_ids() const { return ids_; }  // one value each, in the order of the bytes

 private:
  friend class Machine;
  std::deque<Values> containers_;  // those of all lists, tuples, dicts and calls: values point to them
  std::deque<Values> ids_;
  std::deque<Name> names_;
  Value root_;
  int64_t size_ = 0;
};

}  // namespace dnn::pickle
