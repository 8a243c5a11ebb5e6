// Memory is only ever taken. The host gives the room of an ended session to the next one.

let next: usize = (__heap_base + 15) & ~15;

/** Zeroed room for `bytes`, where a vector may be loaded. */
export function take(bytes: usize): usize {
  const at = next;
  next = (next + bytes + 15) & ~15;
  const pages = <i32>((next + 0xffff) >> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) unreachable();
  return at;
}

export function takeFloats(count: i32): usize {
  return take(<usize>count << 2);
}
