//===- DeviceRdnaRefusalsTest.cpp - What no RDNA kernel may contain -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that are left out by name are refused when the code is loaded.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <string>
#include <vector>

namespace wavetile::device::test {
namespace {

TEST(DeviceRdnaRefusals, NameTheMnemonicWhenTheCodeIsLoaded) {
  struct {
    const char *target, *text, *mnemonic;
  } const cases[] = {
      {"gfx1100", "lds_param_load v1, attr0.x wait_vdst:0", "lds_param_load"},
      {"gfx1100", "v_interp_p10_f32 v0, v1, v2, v3", "v_interp_p10_f32"},
      {"gfx1100", "image_load v[0:3], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D", "image_load"},
      {"gfx1100", "exp mrt0 v0, v0, v0, v0", "exp"},
      {"gfx1100", "ds_add_u32 v0, v1 gds", "ds_add_u32"},
      {"gfx1201", "ds_param_load v1, attr0.x wait_va_vdst:0", "ds_param_load"},
      {"gfx1201", "image_load v[0:3], [v4, v5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D", "image_load"},
      {"gfx1201", "export mrt0 v0, v0, v0, v0", "export"},
  };
  for (const auto &c : cases) {
    std::vector<std::string> refused = refusedBy(c.target, c.text);
    ASSERT_EQ(refused.size(), 1u) << c.text;
    EXPECT_EQ(refused[0].rfind(c.mnemonic, 0), 0u) << refused[0];
  }
}

} // namespace
} // namespace wavetile::device::test
