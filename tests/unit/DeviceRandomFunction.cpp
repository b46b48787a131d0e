//===- DeviceRandomFunction.cpp - Random functions in LLVM IR -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceRandomFunction.h"

#include <iterator>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace wavetile::device::test {

namespace {

class Generator {
public:
  Generator(uint64_t seed) : random(seed) {}

  std::string function(const std::string &name) {
    text = "define internal void @" + name + "(ptr %in, ptr %out) alwaysinline {\n";
    for (unsigned i = 0; i < randomInputs; ++i) {
      std::string pointer = fresh();
      text += "  " + pointer + " = getelementptr i32, ptr %in, i32 " + std::to_string(i) + "\n";
      define("i32", "load i32, ptr " + pointer);
    }
    // Some of each type to start from.
    for (const char *type :
         {"i64", "i16", "i8", "float", "double", "half", "<2 x i16>", "<2 x half>", "<2 x float>"})
      for (int i = 0; i < 2; ++i)
        convertTo(type);
    unsigned count = 12 + below(20);
    for (unsigned i = 0; i < count; ++i)
      operation();
    for (unsigned i = 0; i < randomOutputs; ++i) {
      std::string value = asWord(types[below(types.size())]);
      std::string pointer = fresh();
      text += "  " + pointer + " = getelementptr i32, ptr %out, i32 " + std::to_string(i) + "\n";
      text += "  store i32 " + value + ", ptr " + pointer + "\n";
    }
    return text + "  ret void\n}\n";
  }

private:
  std::mt19937_64 random;
  std::string text;
  unsigned next = 0;
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> types{"i64",         "i32",  "i16",       "float",
                                 "double",      "half", "<2 x i16>", "<2 x half>",
                                 "<2 x float>", "i32",  "float"};

  unsigned below(size_t n) { return static_cast<unsigned>(random() % n); }
  std::string fresh() { return "%v" + std::to_string(next++); }
  std::string define(const std::string &type, const std::string &expression) {
    std::string name = fresh();
    text += "  " + name + " = " + expression + "\n";
    values[type].push_back(name);
    return name;
  }
  /// Not offered to later operations.
  std::string hidden(const std::string &expression) {
    std::string name = fresh();
    text += "  " + name + " = " + expression + "\n";
    return name;
  }
  std::string any(const std::string &type) {
    auto &list = values[type];
    // Mostly recent values, so that chains grow.
    size_t from = list.size() > 6 && below(3) ? list.size() - 6 : 0;
    return list[from + below(list.size() - from)];
  }
  static bool isFloat(const std::string &type) {
    return type == "float" || type == "double" || type == "half" || type == "<2 x half>" ||
           type == "<2 x float>";
  }
  static std::string suffix(const std::string &type) {
    static const std::map<std::string, std::string> table{
        {"float", "f32"},        {"double", "f64"},        {"half", "f16"},
        {"<2 x half>", "v2f16"}, {"<2 x float>", "v2f32"}, {"<2 x i16>", "v2i16"}};
    auto found = table.find(type);
    return found == table.end() ? type : found->second;
  }
  std::string choose(const std::vector<std::string> &list) { return list[below(list.size())]; }

  /// The value with NaNs replaced, which differ between hosts and GPUs.
  std::string withoutNaN(const std::string &type, const std::string &value) {
    bool isVector = type[0] == '<';
    std::string ordered = hidden("fcmp ord " + type + " " + value + ", " + value);
    std::string number = isVector ? "splat (" + type.substr(5, type.size() - 6) + " 7.0)" : "7.0";
    return hidden("select " + std::string(isVector ? "<2 x i1> " : "i1 ") + ordered + ", " + type +
                  " " + value + ", " + type + " " + number);
  }
  std::string asWord(const std::string &type) {
    std::string value = any(type);
    if (isFloat(type))
      value = withoutNaN(type, value);
    if (type == "i32")
      return value;
    if (type == "float" || type == "<2 x i16>" || type == "<2 x half>")
      return hidden("bitcast " + type + " " + value + " to i32");
    if (type == "i16" || type == "i8")
      return hidden("zext " + type + " " + value + " to i32");
    if (type == "half")
      return hidden("zext i16 " + hidden("bitcast half " + value + " to i16") + " to i32");
    if (type == "double" || type == "<2 x float>")
      value = hidden("bitcast " + type + " " + value + " to i64");
    std::string high = hidden("lshr i64 " + value + ", 32");
    return hidden("xor i32 " + hidden("trunc i64 " + value + " to i32") + ", " +
                  hidden("trunc i64 " + high + " to i32"));
  }
  /// A new value of \p type from words.
  void convertTo(const std::string &type) {
    std::string a = any("i32"), b = any("i32");
    auto wide = [&] {
      std::string low = hidden("zext i32 " + a + " to i64");
      std::string high = hidden("shl i64 " + hidden("zext i32 " + b + " to i64") + ", 32");
      return hidden("or i64 " + low + ", " + high);
    };
    if (type == "i64")
      define(type, "or i64 " + wide() + ", 0");
    else if (type == "i16" || type == "i8")
      define(type, "trunc i32 " + a + " to " + type);
    else if (type == "float" || type == "<2 x i16>" || type == "<2 x half>")
      define(type, "bitcast i32 " + a + " to " + type);
    else if (type == "half")
      define(type, "bitcast i16 " + hidden("trunc i32 " + a + " to i16") + " to half");
    else if (type == "double" || type == "<2 x float>")
      define(type, "bitcast i64 " + wide() + " to " + type);
  }

  void call(const std::string &type, const std::string &name,
            const std::vector<std::string> &arguments, const std::string &overload = "") {
    std::string list;
    for (const std::string &argument : arguments)
      list += (list.empty() ? "" : ", ") + argument;
    define(type, "call " + type + " @llvm." + name + "." +
                     (overload.empty() ? suffix(type) : overload) + "(" + list + ")");
  }

  void operation() {
    std::string type = choose(types);
    std::string a = type + " " + any(type), b = any(type), c = any(type);
    std::string typedB = type + " " + b, typedC = type + " " + c;
    if (isFloat(type)) {
      switch (below(type[0] == '<' ? 7 : 14)) {
      case 0:
      case 1:
        define(type, choose({"fadd ", "fsub ", "fmul "}) + a + ", " + b);
        return;
      case 2:
        call(type, "fma", {a, typedB, typedC});
        return;
      case 3:
        call(type, choose({"minimum", "maximum"}), {a, typedB});
        return;
      case 4:
        call(type, "fabs", {a});
        return;
      case 5:
        define(type, "fneg " + a);
        return;
      case 6:
        call(type, "copysign", {a, type + " " + withoutNaN(type, b)});
        return;
      case 7:
        if (type != "half")
          define(type, "fdiv " + a + ", " + b);
        return;
      case 8:
        if (type == "double") // The software square root of f64 is a long sequence of its own.
          call(type, "sqrt", {a});
        return;
      case 9:
        call(type, choose({"floor", "ceil", "trunc", "roundeven"}), {a});
        return;
      case 10: {
        std::string condition = choose({"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq",
                                        "ugt", "uge", "ult", "ule", "une", "uno"});
        std::string bit = hidden("fcmp " + condition + " " + a + ", " + b);
        define(type, "select i1 " + bit + ", " + a + ", " + typedC);
        return;
      }
      case 11: {
        std::string integer = choose({"i32", type == "half" ? "i32" : "i64"});
        call(integer, choose({"fptosi.sat", "fptoui.sat"}), {a},
             suffix(integer) + "." + suffix(type));
        return;
      }
      case 12:
        if (type == "float")
          define(choose({"double"}), "fpext " + a + " to double");
        else if (type == "half")
          define("float", "fpext " + a + " to float");
        else
          define("float", "fptrunc " + a + " to float");
        return;
      case 13:
        // LLVM turns fptrunc(fmul) into v_fma_mixlo with +0, which loses the sign of a zero.
        if (type == "float")
          define("half", "fptrunc float " + withoutNaN(type, b) + " to half");
        return;
      }
    }
    bool isVector = type[0] == '<';
    unsigned width = type == "i64" ? 64 : type == "i32" ? 32 : 16;
    auto shiftAmount = [&] {
      std::string limit = std::to_string(width - 1);
      return hidden("and " + typedB + ", " + (isVector ? "splat (i16 " + limit + ")" : limit));
    };
    switch (below(isVector ? 6 : 15)) {
    case 0:
    case 1:
      define(type, choose({"add ", "sub ", "mul ", "and ", "or ", "xor "}) + a + ", " + b);
      return;
    case 2:
      define(type, choose({"shl ", "lshr ", "ashr "}) + a + ", " + shiftAmount());
      return;
    case 3:
      call(type, choose({"smin", "smax", "umin", "umax"}), {a, typedB});
      return;
    case 4:
      call(type, choose({"uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"}), {a, typedB});
      return;
    case 5:
      call(type, choose({"fshl", "fshr"}), {a, typedB, typedC});
      return;
    case 6:
      call(type, choose({"ctpop", "bitreverse"}), {a});
      return;
    case 7:
      call(type, choose({"ctlz", "cttz"}), {a, "i1 false"});
      return;
    case 8: {
      std::string condition =
          choose({"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"});
      std::string bit = hidden("icmp " + condition + " " + a + ", " + b);
      std::string other = choose(types);
      define(other, "select i1 " + bit + ", " + other + " " + any(other) + ", " + other + " " +
                        any(other));
      return;
    }
    case 9: {
      if (width == 64 && below(4))
        return;
      std::string divisor = hidden("or " + typedB + ", 1");
      define(type, choose({"udiv ", "urem "}) + a + ", " + divisor);
      return;
    }
    case 10:
      if (width == 32)
        define("i64", choose({"zext ", "sext "}) + a + " to i64");
      else if (width == 16)
        define("i32", choose({"zext ", "sext "}) + a + " to i32");
      else
        define("i32", "trunc " + a + " to i32");
      return;
    case 11:
      if (width == 32)
        define("i16", "trunc " + a + " to i16");
      return;
    case 12: {
      std::string to = choose({"float", "double"});
      define(to, choose({"sitofp ", "uitofp "}) + a + " to " + to);
      return;
    }
    case 13: { // The high half of a product.
      if (width != 32)
        return;
      std::string extend = choose({"zext i32 ", "sext i32 "});
      std::string wideA = hidden(extend + any("i32") + " to i64");
      std::string wideB = hidden(extend + b + " to i64");
      std::string high = hidden("lshr i64 " + hidden("mul i64 " + wideA + ", " + wideB) + ", 32");
      define("i32", "trunc i64 " + high + " to i32");
      return;
    }
    case 14:
      convertTo(choose({"float", "half", "<2 x half>", "<2 x i16>", "double"}));
      return;
    }
  }
};

} // namespace

std::string randomFunction(const std::string &name, uint64_t seed) {
  return Generator(seed).function(name);
}

} // namespace wavetile::device::test
