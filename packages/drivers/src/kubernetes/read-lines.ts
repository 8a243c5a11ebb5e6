const NEWLINE = 0x0a;

/** Yields the lines of a stream. A longer line is cut off, so that it cannot fill the service's memory. */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const keep = (part: Uint8Array): void => {
    const kept = part.subarray(0, Math.max(0, maxBytes - bytes));
    if (kept.length > 0) parts.push(kept);
    bytes += kept.length;
  };
  const take = (): string => {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    keep(chunk.subarray(start));
  }
  if (bytes > 0) yield take();
}
