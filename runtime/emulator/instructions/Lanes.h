//===- Lanes.h - Instructions made from the meaning of one lane -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row gives the types of an instruction as a function type and what one lane computes as a
// lambda:
//
//   vector<F32(F32, F32)>("v_add_f32", [](float a, float b) { return add(a, b); })
//
// `vector` makes two handlers of it. The direct one reads its source rows where they are and loops
// over all lanes in host vectors. The prepared one has modifiers, DPP, SDWA and op_sel applied to
// copies of the rows first (Operands.cpp) and to the result last; the loop in between is the same.
//
// A lambda may take a `Lane` first: its number, the wave's mode, the record's variant.
//
// In another mode than the usual one (Mode.h) an instruction on floats always goes the prepared
// way, which flushes denormals and rounds as the mode says. `ModeUse` says what it takes of it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANES_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANES_H

#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/instructions/Float.h"

#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

struct Lane {
  uint32_t index;
  Mode mode;
  uint8_t variant; ///< `Record::variant`.
};

/// A vector result with a bit beside it: carries, v_div_scale.
template <typename T> struct WithMask {
  T value;
  bool mask;
};

/// \p value where \p active is all ones, \p old where it is 0. Not a conditional expression: the
/// compiler would turn one of two loads into a choice of addresses, which no vector code can do.
WAVETILE_INLINE uint32_t blend(uint32_t active, uint32_t value, uint32_t old) {
  return old ^ ((old ^ value) & active);
}

// --- Operand types: how the lane's value is read from and written to rows ---

template <typename T, Type type_> struct Whole {
  using Value = T;
  static constexpr Type type = type_;
  WAVETILE_INLINE static T load(const uint32_t *row, unsigned lane, unsigned) {
    return __builtin_bit_cast(T, row[lane]);
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned, uint32_t active,
                                    uint32_t, T value) {
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    row[lane] = blend(active, bits, row[lane]);
  }
};
using U32 = Whole<uint32_t, Type::B32>;
using I32 = Whole<int32_t, Type::B32>;
using F32 = Whole<float, Type::F32>;
/// An f32 or f16 source of v_fma_mix, made f32 by Operands.cpp.
using Mixed = Whole<float, Type::Mixed>;
/// Two 16-bit halves in one value; op_sel and neg_lo/neg_hi are applied by Operands.cpp.
using PackedU16 = Whole<uint32_t, Type::PackedB16>;
using PackedF16 = Whole<uint32_t, Type::PackedF16>;
using PackedBF16 = Whole<uint32_t, Type::PackedBF16>;

template <typename T, Type type_> struct HalfInteger {
  using Value = T;
  static constexpr Type type = type_;
  WAVETILE_INLINE static T load(const uint32_t *row, unsigned lane, unsigned) {
    return static_cast<T>(row[lane]);
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned, uint32_t active,
                                    uint32_t kept, T value) {
    uint32_t bits = (row[lane] & kept) | static_cast<uint16_t>(value);
    row[lane] = blend(active, bits, row[lane]);
  }
};
using U16 = HalfInteger<uint16_t, Type::B16>;
using I16 = HalfInteger<int16_t, Type::B16>;
/// Raw bits, but with modifiers and constants of f16 or bf16.
using BitsF16 = HalfInteger<uint16_t, Type::F16>;
using BitsBF16 = HalfInteger<uint16_t, Type::BF16>;

/// f16, computed with as f32: exact for one operation that rounds once more at the end.
struct F16 {
  using Value = float;
  static constexpr Type type = Type::F16;
  WAVETILE_INLINE static float load(const uint32_t *row, unsigned lane, unsigned) {
    return fromHalf(row[lane]);
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned, uint32_t active,
                                    uint32_t kept, float value) {
    uint16_t half = halfFrom(value);
    uint32_t bits = (row[lane] & kept) | half;
    row[lane] = blend(active, bits, row[lane]);
  }
};

template <typename T, Type type_> struct Pair {
  using Value = T;
  static constexpr Type type = type_;
  WAVETILE_INLINE static T load(const uint32_t *row, unsigned lane, unsigned stride) {
    return __builtin_bit_cast(T, row[lane] | static_cast<uint64_t>(row[stride + lane]) << 32);
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned stride, uint32_t active,
                                    uint32_t, T value) {
    uint64_t bits = __builtin_bit_cast(uint64_t, value);
    row[lane] = blend(active, static_cast<uint32_t>(bits), row[lane]);
    row[stride + lane] = blend(active, static_cast<uint32_t>(bits >> 32), row[stride + lane]);
  }
};
using U64 = Pair<uint64_t, Type::B64>;
using I64 = Pair<int64_t, Type::I64>;
using F64 = Pair<double, Type::F64>;

struct FloatPair {
  float low, high;
};
struct PackedF32 {
  using Value = FloatPair;
  static constexpr Type type = Type::PackedF32;
  WAVETILE_INLINE static FloatPair load(const uint32_t *row, unsigned lane, unsigned stride) {
    return {__builtin_bit_cast(float, row[lane]), __builtin_bit_cast(float, row[stride + lane])};
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned stride, uint32_t active,
                                    uint32_t, FloatPair value) {
    uint32_t low = __builtin_bit_cast(uint32_t, value.low);
    uint32_t high = __builtin_bit_cast(uint32_t, value.high);
    row[lane] = blend(active, low, row[lane]);
    row[stride + lane] = blend(active, high, row[stride + lane]);
  }
};

/// A bit a lane from scalar registers; as a result: a comparison.
struct MaskBit {
  using Value = bool;
  static constexpr Type type = Type::Mask;
  WAVETILE_INLINE static bool load(const uint32_t *row, unsigned lane, unsigned) {
    return row[lane] != 0;
  }
};

/// Bits of 32 rows' lanes from words that are all ones or zero.
WAVETILE_INLINE uint32_t packMask(const uint32_t *flags) {
#if defined(__AVX512DQ__)
  __m512i low = _mm512_loadu_si512(flags), high = _mm512_loadu_si512(flags + 16);
  return static_cast<uint32_t>(_mm512_movepi32_mask(low)) |
         static_cast<uint32_t>(_mm512_movepi32_mask(high)) << 16;
#elif defined(__AVX2__)
  uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    __m256 eight = _mm256_loadu_ps(reinterpret_cast<const float *>(flags + 8 * i));
    bits |= static_cast<uint32_t>(_mm256_movemask_ps(eight)) << (8 * i);
  }
  return bits;
#else
  uint32_t bits = 0;
  for (unsigned i = 0; i < 32; ++i)
    bits |= (flags[i] & 1u) << i;
  return bits;
#endif
}

// --- MODE ---

/// What an instruction does with the wave's mode.
enum class ModeUse : uint8_t {
  None,      ///< Nothing: it has no float operands, or looks at their bits.
  Denormals, ///< Flushes, and rounds to nearest even in any mode: transcendentals.
  Full
};
constexpr bool isRounded(Type type) {
  return type == Type::F32 || type == Type::F64 || type == Type::F16 || type == Type::PackedF16 ||
         type == Type::PackedF32 || type == Type::Mixed;
}
constexpr bool hasFloats(const Signature &signature) {
  bool result = isRounded(signature.result);
  for (Type type : signature.sources)
    result |= isRounded(type);
  return result;
}
/// f16 and f64 operations, and conversions to and from them, round by MODE.FP_ROUND[3:2].
constexpr bool roundsAs16Or64(const Signature &signature) {
  bool result = signature.result == Type::F16 || signature.result == Type::PackedF16 ||
                signature.result == Type::F64;
  for (Type type : signature.sources)
    result |= type == Type::F64;
  return result;
}

/// Flushes denormal sources where the mode says so.
void flushSources(const Wave &wave, const Signature &signature, PreparedOperands &operands);

/// The host rounds as the mode says for as long as it lives.
class ModeRounding {
public:
  WAVETILE_INLINE explicit ModeRounding(Rounding rounding) : rounding(rounding) {
    if (rounding != Rounding::NearestEven)
      setHostRounding(rounding);
  }
  WAVETILE_INLINE ~ModeRounding() {
    if (rounding != Rounding::NearestEven)
      setHostRounding(Rounding::NearestEven);
  }
  ModeRounding(const ModeRounding &) = delete;
  ModeRounding &operator=(const ModeRounding &) = delete;

private:
  Rounding rounding;
};
template <ModeUse use>
WAVETILE_INLINE Rounding roundingOf(const Mode &mode, const Signature &signature) {
  if constexpr (use != ModeUse::Full)
    return Rounding::NearestEven;
  return roundsAs16Or64(signature) ? mode.rounding16_64 : mode.rounding32;
}

// --- Calls ---

template <typename Op, typename... Values>
WAVETILE_INLINE auto call(const Lane &lane, Values... values) {
  if constexpr (std::is_invocable_v<Op, Lane, Values...>)
    return Op{}(lane, values...);
  else
    return Op{}(values...);
}

/// The result side of a function type: a row type, a row type with a bit beside, or a bit alone.
template <typename R> struct ResultOf {
  using Row = R;
  static constexpr Type type = R::type;
  static constexpr bool hasRow = true, hasMask = false;
};
template <typename T> struct ResultOf<WithMask<T>> {
  using Row = T;
  static constexpr Type type = T::type;
  static constexpr bool hasRow = true, hasMask = true;
};
template <> struct ResultOf<MaskBit> {
  using Row = U32;
  static constexpr Type type = Type::None;
  static constexpr bool hasRow = false, hasMask = true;
};

/// Applies DPP, SDWA, op_sel, neg and abs to copies of the sources.
void prepareOperands(Wave &wave, const Record *record, const Signature &signature,
                     PreparedOperands &operands);
/// Applies omod and clamp to the row or rows of a result.
void modifyOutput(const Wave &wave, uint32_t modifiers, Type type, uint32_t *row);
/// Applies omod, clamp, SDWA and op_sel to the result and writes it.
void finishResult(Wave &wave, const Record *record, const Signature &signature,
                  const PreparedOperands &operands);

WAVETILE_INLINE void broadcast(uint32_t value, uint32_t *row) {
  for (unsigned lane = 0; lane < maximumWaveSize; ++lane)
    row[lane] = value;
}

/// The row of a source without modifiers; scalar ones are spread over a temporary row.
template <typename S>
WAVETILE_INLINE const uint32_t *directSource(Wave &wave, Operand operand, unsigned slot) {
  if constexpr (S::type == Type::Mask) {
    uint64_t mask = wave.readMask(operand);
    uint32_t *row = wave.temporary[2 * slot];
    Wave::expandMask(mask, row);
    return row;
  } else {
    if (operand.kind() == OperandKind::Scalar) {
      uint32_t *row = wave.temporary[2 * slot];
      broadcast(wave.read32(operand), row);
      if constexpr (rowsOf(S::type) == 2)
        broadcast(wave.scalars[operand.index() + 1], row + wave.waveSize);
      return row;
    }
    return wave.row(operand);
  }
}

template <ModeUse use, typename Op, typename R, typename... S> struct VectorHandlers {
  using Result = ResultOf<R>;
  using Row = typename Result::Row;
  static constexpr Signature signature = [] {
    Signature s;
    s.result = Result::type;
    unsigned i = 0;
    ((s.sources[i++] = S::type), ...);
    s.maskResult = Result::hasMask;
    return s;
  }();
  static constexpr bool hasMode = use != ModeUse::None && hasFloats(signature);

  template <size_t... I>
  WAVETILE_INLINE static uint64_t lanes(const Wave &wave, uint32_t *result,
                                        const uint32_t *const *sources, const uint32_t *active,
                                        uint32_t kept, uint8_t variant, std::index_sequence<I...>) {
    const unsigned stride = wave.waveSize;
    const Mode mode = wave.mode;
    const uint32_t *const source[] = {sources[I]..., nullptr};
    (void)source;
    uint64_t mask = 0;
    for (unsigned base = 0; base < stride; base += 32) {
      [[maybe_unused]] alignas(64) uint32_t flags[32];
#pragma clang loop vectorize(assume_safety)
      for (unsigned i = 0; i < 32; ++i) {
        unsigned lane = base + i;
        auto value = call<Op>(Lane{lane, mode, variant}, S::load(source[I], lane, stride)...);
        if constexpr (Result::hasRow && Result::hasMask) {
          flags[i] = value.mask ? ~0u : 0u;
          Row::store(result, lane, stride, active[lane], kept, value.value);
        } else if constexpr (Result::hasMask) {
          flags[i] = value ? ~0u : 0u;
        } else {
          Row::store(result, lane, stride, active[lane], kept, value);
        }
      }
      if constexpr (Result::hasMask)
        mask |= static_cast<uint64_t>(packMask(flags)) << base;
    }
    return mask;
  }

  template <size_t... I>
  WAVETILE_INLINE static const Record *direct(Wave &wave, const Record *record,
                                              std::index_sequence<I...> indices) {
    const uint32_t *sources[] = {directSource<S>(wave, record->sources[I], I)..., nullptr};
    uint32_t *result = nullptr;
    if constexpr (Result::hasRow)
      result = wave.row(record->destination);
    uint64_t mask = lanes(wave, result, sources, wave.activeRow(), wave.keptByHalfResult,
                          record->variant, indices);
    if constexpr (Result::hasMask)
      wave.setLaneMask(record->maskDestination.index(), mask & wave.exec());
    return record + 1;
  }
  static const Record *direct(Wave &wave, const Record *record) {
    if constexpr (hasMode)
      if (__builtin_expect(!wave.mode.usual, 0))
        return prepared(wave, record);
    return direct(wave, record, std::index_sequence_for<S...>());
  }

  static const Record *prepared(Wave &wave, const Record *record) {
    PreparedOperands operands;
    prepareOperands(wave, record, signature, operands);
    if constexpr (hasMode)
      if (__builtin_expect(!wave.mode.usual, 0)) {
        flushSources(wave, signature, operands);
        ModeRounding rounding(roundingOf<use>(wave.mode, signature));
        return finish(wave, record, operands);
      }
    return finish(wave, record, operands);
  }

private:
  WAVETILE_INLINE static const Record *finish(Wave &wave, const Record *record,
                                              PreparedOperands &operands) {
    uint64_t mask = lanes(wave, operands.result, operands.sources, operands.active, 0,
                          record->variant, std::index_sequence_for<S...>());
    if constexpr (Result::hasRow)
      finishResult(wave, record, signature, operands);
    if constexpr (Result::hasMask)
      wave.setLaneMask(record->maskDestination.index(), mask & operands.activeMask);
    return record + 1;
  }
};

template <typename F> struct VectorBuilder;
template <typename R, typename... S> struct VectorBuilder<R(S...)> {
  template <ModeUse use, typename Op> static constexpr Instruction make(const char *names, Op) {
    using Handlers = VectorHandlers<use, Op, R, S...>;
    Instruction row;
    row.names = names;
    row.direct = Handlers::direct;
    row.prepared = Handlers::prepared;
    row.signature = Handlers::signature;
    row.instructionClass = InstructionClass::VectorAlu;
    return row;
  }
};

/// See the top of the file.
template <typename F, ModeUse use = ModeUse::Full, typename Op>
constexpr Instruction vector(const char *names, Op op) {
  return VectorBuilder<F>::template make<use>(names, op);
}

/// One whose hardware's tables are not public: within 1 ulp of the true value, in any rounding
/// mode.
template <typename F, typename Op> constexpr Instruction transcendental(const char *names, Op op) {
  return vector<F, ModeUse::Denormals>(names, op).as(InstructionClass::Transcendental).within(1);
}

/// A vector instruction that looks at lanes as a whole: its handler does everything.
constexpr Instruction crossLane(const char *names, Signature signature, Handler handler) {
  Instruction row;
  row.names = names;
  row.direct = handler;
  row.signature = signature;
  row.instructionClass = InstructionClass::VectorAlu;
  return row;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANES_H
