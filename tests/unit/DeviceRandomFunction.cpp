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
    text = "define internal void @" + name + "(ptr %in, ptr %out, ptr %memory) alwaysinline {\n" +
           block + ":\n";
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
      switch (below(12)) {
      case 0:
        branch();
        break;
      case 1:
        loop();
        break;
      case 2:
        wideVector();
        break;
      case 3:
        atomic();
        break;
      default:
        operation();
      }
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
  std::string block = "entry"; ///< The basic block that is being written.
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

  // --- Control flow ---

  void startBlock(const std::string &label) {
    text += label + ":\n";
    block = label;
  }
  /// An operation that any value of the type may have, its result not yet offered to others.
  std::string simple(const std::string &type, const std::string &a, const std::string &b) {
    std::string operation = isFloat(type) ? choose({"fadd ", "fsub ", "fmul "})
                                          : choose({"add ", "sub ", "xor ", "and ", "mul "});
    return hidden(operation + type + " " + a + ", " + b);
  }
  std::string condition() {
    if (below(2))
      return hidden("icmp " + choose({"ult", "sgt", "eq", "sle"}) + " i32 " + any("i32") + ", " +
                    any("i32"));
    return hidden("fcmp " + choose({"olt", "uge", "une"}) + " float " + any("float") + ", " +
                  any("float"));
  }
  /// Lanes go two ways, some perhaps none.
  void branch() {
    std::string type = choose(types), a = any(type), b = any(type), c = any(type);
    std::string number = std::to_string(next++), bit = condition();
    std::string thenLabel = "then" + number, elseLabel = "else" + number, join = "join" + number;
    text += "  br i1 " + bit + ", label %" + thenLabel + ", label %" + elseLabel + "\n";
    startBlock(thenLabel);
    std::string first = simple(type, a, b);
    text += "  br label %" + join + "\n";
    startBlock(elseLabel);
    std::string second = simple(type, b, c);
    text += "  br label %" + join + "\n";
    startBlock(join);
    define(type, "phi " + type + " [ " + first + ", %" + thenLabel + " ], [ " + second + ", %" +
                     elseLabel + " ]");
  }
  /// Each lane goes round as often as its own value says.
  void loop() {
    std::string type = choose({"i32", "i64", "i16", "<2 x i16>", "float"});
    std::string start = any(type), step = any(type);
    std::string times = hidden("and i32 " + any("i32") + ", 7");
    std::string number = std::to_string(next++), before = block, body = "loop" + number,
                after = "after" + number;
    text += "  br label %" + body + "\n";
    startBlock(body);
    std::string value = "%value" + number, count = "%count" + number;
    std::string newCount = "%more" + number;
    std::string operation = isFloat(type) ? "fadd " : choose({"add ", "xor ", "mul "});
    std::string newValue = "%result" + number;
    text += "  " + value + " = phi " + type + " [ " + start + ", %" + before + " ], [ " + newValue +
            ", %" + body + " ]\n";
    text +=
        "  " + count + " = phi i32 [ 0, %" + before + " ], [ " + newCount + ", %" + body + " ]\n";
    text += "  " + newValue + " = " + operation + type + " " + value + ", " + step + "\n";
    text += "  " + newCount + " = add i32 " + count + ", 1\n";
    std::string bit = hidden("icmp ult i32 " + count + ", " + times);
    text += "  br i1 " + bit + ", label %" + body + ", label %" + after + "\n";
    startBlock(after);
    values[type].push_back(newValue);
  }

  // --- Vectors of four ---

  /// Builds two, computes with them and takes an element out, some by an index that varies.
  void wideVector() {
    std::string element = choose({"i32", "i16", "i8", "float", "half"});
    std::string type = "<4 x " + element + ">";
    auto index = [&]() -> std::string {
      return below(2) ? std::to_string(below(4)) : hidden("and i32 " + any("i32") + ", 3");
    };
    auto built = [&] {
      std::string vector = "zeroinitializer";
      for (unsigned i = 0; i < 4; ++i)
        vector = hidden("insertelement " + type + " " + vector + ", " + element + " " +
                        any(element) + ", i32 " + std::to_string(i));
      return hidden("insertelement " + type + " " + vector + ", " + element + " " + any(element) +
                    ", i32 " + index());
    };
    std::string a = built(), b = built();
    bool isNumber = element == "float" || element == "half";
    std::string operation = isNumber ? choose({"fadd ", "fsub ", "fmul "})
                                     : choose({"add ", "sub ", "mul ", "xor ", "or "});
    std::string c = hidden(operation + type + " " + a + ", " + b);
    if (!isNumber) {
      std::string name = choose({"smin", "umax", "usub.sat"});
      c = hidden("call " + type + " @llvm." + name + ".v4" + element + "(" + type + " " + c + ", " +
                 type + " " + a + ")");
    }
    std::string mask;
    for (unsigned i = 0; i < 4; ++i)
      mask += (i ? ", i32 " : "i32 ") + std::to_string(below(8));
    std::string d = hidden("shufflevector " + type + " " + c + ", " + type + " " + b +
                           ", <4 x i32> <" + mask + ">");
    define(element, "extractelement " + type + " " + d + ", i32 " + index());
  }

  // --- Atomics ---

  /// One on a lane's own memory: what was there and what is there then are both of interest.
  void atomic() {
    std::string type = choose({"i32", "i32", "i64", "float"});
    std::string start = any(type), operand = any(type);
    if (type == "float") { // Which NaN a sum is differs.
      start = withoutNaN(type, start);
      operand = withoutNaN(type, operand);
    }
    std::string alignment = type == "i64" ? "8" : "4";
    text += "  store " + type + " " + start + ", ptr %memory, align " + alignment + "\n";
    std::string scope = " syncscope(\"agent\") monotonic, align " + alignment;
    if (type == "float") {
      define(type, "atomicrmw fadd ptr %memory, float " + operand + scope);
    } else if (below(4) == 0) {
      std::string expected = below(2) ? start : any(type);
      std::string both =
          hidden("cmpxchg ptr %memory, " + type + " " + expected + ", " + type + " " + operand +
                 " syncscope(\"agent\") monotonic monotonic, align " + alignment);
      define(type, "extractvalue { " + type + ", i1 } " + both + ", 0");
    } else {
      define(type, "atomicrmw " +
                       choose({"add", "sub", "and", "or", "xor", "nand", "min", "max", "umin",
                               "umax", "xchg", "uinc_wrap", "udec_wrap"}) +
                       " ptr %memory, " + type + " " + operand + scope);
    }
    define(type, "load " + type + ", ptr %memory, align " + alignment);
  }

  void operation() {
    std::string type = choose(types);
    std::string a = type + " " + any(type), b = any(type), c = any(type);
    std::string typedB = type + " " + b, typedC = type + " " + c;
    if (isFloat(type)) {
      switch (below(type[0] == '<' ? 7 : 18)) {
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
      case 14:
        call(type, choose({"minimumnum", "maximumnum"}), {a, typedB});
        return;
      case 15: { // Scaled by a power of two, to denormals and infinity too.
        if (type == "half")
          return;
        std::string power = hidden("and i32 " + any("i32") + ", 511");
        call(type, "ldexp", {a, "i32 " + hidden("sub i32 " + power + ", 256")},
             suffix(type) + ".i32");
        return;
      }
      case 16: {
        std::string bit = hidden("call i1 @llvm.is.fpclass." + suffix(type) + "(" + a + ", i32 " +
                                 std::to_string(1 + below(1022)) + ")");
        define("i32", "zext i1 " + bit + " to i32");
        return;
      }
      case 17:
        if (type == "float")
          call(type, "sqrt", {a});
        return;
      }
    }
    bool isVector = type[0] == '<';
    unsigned width = type == "i64" ? 64 : type == "i32" ? 32 : 16;
    auto shiftAmount = [&] {
      std::string limit = std::to_string(width - 1);
      return hidden("and " + typedB + ", " + (isVector ? "splat (i16 " + limit + ")" : limit));
    };
    switch (below(isVector ? 6 : 20)) {
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
    case 15: { // A positive divisor: the least number divided by -1 has no result.
      if (width == 64 && below(4))
        return;
      std::string positive = hidden("lshr " + typedB + ", 1");
      std::string divisor = hidden("or " + type + " " + positive + ", 1");
      define(type, choose({"sdiv ", "srem "}) + a + ", " + divisor);
      return;
    }
    case 16:
      call(type, "bswap", {a});
      return;
    case 17:
      call(type, "abs", {a, "i1 false"});
      return;
    case 18: {
      std::string both = hidden("call { " + type + ", i1 } @llvm." +
                                choose({"uadd", "usub", "sadd", "ssub", "umul", "smul"}) +
                                ".with.overflow." + type + "(" + a + ", " + typedB + ")");
      define("i32",
             "zext i1 " + hidden("extractvalue { " + type + ", i1 } " + both + ", 1") + " to i32");
      define(type, "extractvalue { " + type + ", i1 } " + both + ", 0");
      return;
    }
    case 19: // Exact in f32, so that the host rounds once too.
      if (width == 16)
        define("half", choose({"sitofp ", "uitofp "}) + a + " to half");
      else
        define("i8", "trunc " + a + " to i8");
      return;
    }
  }
};

} // namespace

std::string randomFunction(const std::string &name, uint64_t seed) {
  return Generator(seed).function(name);
}

} // namespace wavetile::device::test
