/** Every text that differs from this one in a single bit of one character, as bytes on a wire could. */
export function* oneBitMutants(text: string): Generator<string> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += 1)
    for (let bit = 0; bit < 8; bit += 1) {
      const mutant = Buffer.from(bytes);
      mutant[at]! ^= 1 << bit;
      yield mutant.toString("latin1");
    }
}
