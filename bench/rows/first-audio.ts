import { connectPeer, OPUS_PAYLOAD_TYPE } from "../load/peer.ts";
import { pause } from "../machine/child.ts";
import { ECHO_BOT, startRunner } from "../machine/runner.ts";
import type { Benchmark } from "../report/row.ts";
import { figure, percentile } from "../report/statistics.ts";

const RUNS = 101;
const TARGET_P50_MS = 80;
const TARGET_P99_MS = 250;
const RETRANSMITTED_MS = 900; // a lost handshake packet is sent again after a second

export const firstAudio: Benchmark = {
  name: "first-audio",
  about: "WebRTC offer → first audio packet",
  async run() {
    await using runner = await startRunner({ bot: ECHO_BOT });
    const all: number[] = [];
    for (let run = 0; run < RUNS; run += 1) all.push(await measure(runner.url, run + 1));
    const [firstMs = 0, ...later] = all;
    const p50 = percentile(later, 0.5);
    const p99 = percentile(later, 0.99);
    const slow = later.filter((ms) => ms > RETRANSMITTED_MS).length;
    return [
      {
        what: `offer → first audio packet, p50 / p99 of ${RUNS - 1}, one fresh process`,
        target: `≤ ${TARGET_P50_MS} / ${TARGET_P99_MS} ms`,
        measured: `${figure(p50)} / ${figure(p99)} ms`,
        baseline: `first call of the process ${figure(firstMs)} ms`,
        met: p50 <= TARGET_P50_MS && p99 <= TARGET_P99_MS,
        note: slow > 0 ? `${slow} waited a second for a repeated handshake packet` : "",
      },
    ];
  },
};

async function measure(url: string, ssrc: number): Promise<number> {
  let offeredMs = 0;
  const first = Promise.withResolvers<number>();
  const peer = await connectPeer({
    url,
    ssrc,
    onOffer: () => void (offeredMs = performance.now()),
    onPacket: (packet) => void (packet[1] === OPUS_PAYLOAD_TYPE && first.resolve(performance.now())),
  });
  const firstMs = (await first.promise) - offeredMs;
  peer.close();
  await pause(50);
  return firstMs;
}
