# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention with online softmax, the largest kernel whose frontend is timed."""

import torch
import wavetile
import wavetile.language as wl


@wavetile.kernel
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    heads, m, _ = q.size()
    d = wl.specialize(q.size(2))
    out = torch.empty_like(q)
    for head, rows in wl.tile([heads, m], block_size=[1, 64]):
        highest = wl.full([rows], float("-inf"), dtype=torch.float32)
        total = wl.zeros([rows], dtype=torch.float32)
        acc = wl.zeros([rows, d], dtype=torch.float32)
        query = q[head.begin, rows, :]
        for cols in wl.tile(k.size(1), block_size=64):
            scores = wl.dot(query, k[head.begin, cols, :].transpose(0, 1)) * scale
            behind = rows.index[:, None] < cols.index[None, :]
            scores = torch.where(behind, float("-inf"), scores)
            new = torch.maximum(highest, scores.amax(-1))
            weights = torch.exp(scores - new[:, None])
            rescale = torch.exp(highest - new)
            total = total * rescale + weights.sum(-1)
            acc = wl.dot(weights.to(v.dtype), v[head.begin, cols, :], acc * rescale[:, None])
            highest = new
        out[head.begin, rows, :] = acc / total[:, None]
    return out
