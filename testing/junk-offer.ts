/** The description as a client with a fault, or an enemy, could send it: lines gone, twice, cut or changed. */
export function spoil(sdp: string, random: () => number): string {
  const lines = sdp.split("\r\n");
  const pick = (count: number): number => Math.floor(random() * count);
  for (let times = 1 + pick(3); times > 0; times -= 1) {
    const at = pick(lines.length);
    const line = lines[at] ?? "";
    const edits = [
      () => lines.splice(at, 1),
      () => lines.splice(at, 0, line),
      () => (lines[at] = line.slice(0, pick(line.length + 1))),
      () => (lines[at] = line.replace(/\d+/, String(pick(100_000)))),
      () =>
        (lines[at] = line
          .replace(/a=(?:sendrecv|sendonly|recvonly)/, "a=inactive")
          .replace(/^(m=\w+) \d+/, "$1 0")),
      () => (lines[at] = line.replace(/a=setup:.*/, "a=setup:passive").replace(/a=mid:.*/, "a=mid:9")),
    ];
    edits[pick(edits.length)]?.();
  }
  return lines.join("\r\n");
}
