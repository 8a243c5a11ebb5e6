"""A gated recurrent layer in one kernel, for training: every step of cuDNN's costs several launches, and a scene has 640.

The weights stay in registers; 16 scenes share a block. The result equals nn.GRU's but for the rounding of the state to
bfloat16 in the matrix products.
"""

import torch
from torch.nn import functional

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

ROWS = 16
KIND = torch.bfloat16
WARPS = dict(forward=8, backward=8)


def is_fast(layer, x):
    size = layer.hidden_size
    return triton is not None and x.is_cuda and size & (size - 1) == 0 and 16 <= size <= 128 and x.shape[0] % ROWS == 0


def run(layer, x, state=None):
    """What `layer(x, state)[0]` gives, for a nn.GRU of one layer with the batch first; the state (batch, hidden) gets no gradient."""
    if state is None:
        state = x.new_zeros(len(x), layer.hidden_size)
    if not is_fast(layer, x):
        return layer(x, state[None])[0]
    inputs = functional.linear(x, layer.weight_ih_l0, layer.bias_ih_l0)
    return Recurrence.apply(inputs, layer.weight_hh_l0, layer.bias_hh_l0, state.contiguous())


def recent(share, rises, falls, start=None):
    """(batch, frames) -> what it was of late, before each frame: follows by these parts a frame, upwards and downwards."""
    if start is None:
        start = torch.zeros_like(share[:, 0])
    if triton is None or not share.is_cuda:
        found, now = [], start
        for value in share.unbind(1):
            found.append(now)
            change = value - now
            now = now + change * torch.where(change > 0, rises, falls)
        return torch.stack(found, 1)
    turned = share.t().contiguous()
    found = torch.empty_like(turned)
    recent_kernel[(triton.cdiv(share.shape[0], 32),)](turned, start.contiguous(), found, share.shape[1], share.shape[0], rises, falls, 32, num_warps=1)
    return found.t()


def after(share, found, rises, falls):
    """What `recent` would go on with."""
    change = share[:, -1] - found[:, -1]
    return found[:, -1] + change * torch.where(change > 0, rises, falls)


class Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(context, inputs, weights, bias, state):
        batch, steps, size = inputs.shape[0], inputs.shape[1], weights.shape[1]
        inputs = inputs.contiguous()
        out = inputs.new_empty(batch, steps, size)
        saved = inputs.new_empty(4, batch, steps, size)
        forward_kernel[(batch // ROWS,)](
            inputs, weights.to(KIND).contiguous(), bias, state, out, saved, saved[0].numel(), steps, size, ROWS, num_warps=WARPS["forward"]
        )
        context.save_for_backward(weights, state, out, saved)
        return out

    @staticmethod
    def backward(context, d_out):
        weights, state, out, saved = context.saved_tensors
        batch, steps, size = out.shape
        d_inputs = out.new_empty(batch, steps, 3 * size)
        d_hidden = out.new_empty(batch, steps, 3 * size)
        backward_kernel[(batch // ROWS,)](
            d_out.contiguous(), weights.to(KIND).contiguous(), state, out, saved, d_inputs, d_hidden, saved[0].numel(), steps, size, ROWS,
            num_warps=WARPS["backward"],
        )
        before = torch.cat([state[:, None], out[:, :-1]], 1)
        d_weights = d_hidden.flatten(0, 1).t() @ before.flatten(0, 1)
        return d_inputs, d_weights, d_hidden.sum((0, 1)), None


if triton is not None:

    @triton.jit
    def recent_kernel(share, start, found, steps, count, rises, falls, ROWS: tl.constexpr):
        rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        here = rows < count
        now = tl.load(start + rows, here, 0.0)
        value = tl.load(share + rows, here, 0.0)
        for t in range(steps):
            after = tl.load(share + tl.minimum(t + 1, steps - 1) * count + rows, here, 0.0)
            tl.store(found + t * count + rows, now, here)
            change = value - now
            now += change * tl.where(change > 0, rises, falls)
            value = after

    @triton.jit
    def tanh(x):
        return 2 * tl.sigmoid(2 * x) - 1

    @triton.jit
    def forward_kernel(inputs, weights, bias, state, out, saved, plane, steps, SIZE: tl.constexpr, ROWS: tl.constexpr):
        rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None].to(tl.int64)
        columns = tl.arange(0, SIZE)[None, :]
        turned = tl.arange(0, SIZE)[None, :] * SIZE + tl.arange(0, SIZE)[:, None]
        w_r = tl.load(weights + turned)
        w_z = tl.load(weights + SIZE * SIZE + turned)
        w_n = tl.load(weights + 2 * SIZE * SIZE + turned)
        b_r = tl.load(bias + columns)
        b_z = tl.load(bias + SIZE + columns)
        b_n = tl.load(bias + 2 * SIZE + columns)
        seen = inputs + rows * steps * 3 * SIZE + columns
        place = rows * steps * SIZE + columns
        i_r, i_z, i_n = tl.load(seen), tl.load(seen + SIZE), tl.load(seen + 2 * SIZE)
        h = tl.load(state + rows * SIZE + columns)
        for t in range(steps):
            # The next step's inputs are on their way while this one is worked out.
            after = seen + tl.minimum(t + 1, steps - 1) * 3 * SIZE
            j_r, j_z, j_n = tl.load(after), tl.load(after + SIZE), tl.load(after + 2 * SIZE)
            rounded = h.to(weights.dtype.element_ty)
            r = tl.sigmoid(i_r + b_r + tl.dot(rounded, w_r))
            z = tl.sigmoid(i_z + b_z + tl.dot(rounded, w_z))
            own = tl.dot(rounded, w_n) + b_n
            n = tanh(i_n + r * own)
            h = n + z * (h - n)
            here = place + t * SIZE
            tl.store(out + here, h)
            tl.store(saved + here, r)
            tl.store(saved + plane + here, z)
            tl.store(saved + 2 * plane + here, n)
            tl.store(saved + 3 * plane + here, own)
            i_r, i_z, i_n = j_r, j_z, j_n

    @triton.jit
    def backward_kernel(d_out, weights, state, out, saved, d_inputs, d_hidden, plane, steps, SIZE: tl.constexpr, ROWS: tl.constexpr):
        rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None].to(tl.int64)
        columns = tl.arange(0, SIZE)[None, :]
        straight = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
        w_r = tl.load(weights + straight)
        w_z = tl.load(weights + SIZE * SIZE + straight)
        w_n = tl.load(weights + 2 * SIZE * SIZE + straight)
        place = rows * steps * SIZE + columns
        wide = rows * steps * 3 * SIZE + columns
        here = place + (steps - 1) * SIZE
        d, r, z = tl.load(d_out + here), tl.load(saved + here), tl.load(saved + plane + here)
        n, own = tl.load(saved + 2 * plane + here), tl.load(saved + 3 * plane + here)
        first = tl.load(state + rows * SIZE + columns)
        dh = tl.zeros((ROWS, SIZE), tl.float32)
        for i in range(steps):
            t = steps - 1 - i
            earlier = place + tl.maximum(t - 1, 0) * SIZE
            before = tl.where(t > 0, tl.load(out + earlier), first)
            e_d, e_r, e_z = tl.load(d_out + earlier), tl.load(saved + earlier), tl.load(saved + plane + earlier)
            e_n, e_own = tl.load(saved + 2 * plane + earlier), tl.load(saved + 3 * plane + earlier)
            dh += d
            d_n = dh * (1 - z) * (1 - n * n)
            d_z = dh * (before - n) * z * (1 - z)
            d_r = d_n * own * r * (1 - r)
            d_own = d_n * r
            there = wide + t * 3 * SIZE
            tl.store(d_inputs + there, d_r)
            tl.store(d_inputs + there + SIZE, d_z)
            tl.store(d_inputs + there + 2 * SIZE, d_n)
            tl.store(d_hidden + there, d_r)
            tl.store(d_hidden + there + SIZE, d_z)
            tl.store(d_hidden + there + 2 * SIZE, d_own)
            dh = dh * z + tl.dot(d_r.to(weights.dtype.element_ty), w_r) + tl.dot(d_z.to(weights.dtype.element_ty), w_z) + tl.dot(d_own.to(weights.dtype.element_ty), w_n)
            d, r, z, n, own = e_d, e_r, e_z, e_n, e_own
