// RUN: wavetile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{malformed layout}}
module attributes {layout = #tile.layout<"register=">} {}

// -----

// expected-error @+1 {{expected}}
module attributes {dims = #tile.dims<rows>} {}
