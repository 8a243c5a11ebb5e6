import type { ReceptionReport, SenderReport } from "./rtcp.ts";
import { sequenceOf, ssrcOf, timestampOf } from "./rtp-header.ts";

/** Counts the packets of one stream as RFC 3550 does. */
export interface Reception {
  receive(packet: Buffer, nowMs: number): void;
  noteSenderReport(report: SenderReport, nowMs: number): void;
  /** The report for the sender; undefined before the first packet. */
  report(nowMs: number): ReceptionReport | undefined;
}

export function createReception(clockRateHz: number): Reception {
  let ssrc: number | undefined;
  let firstSequence = 0;
  let highestSequence = 0; // with the count of wraps in the upper bits
  let received = 0;
  let jitter = 0;
  let lastTransit: number | undefined;
  let reportedExpected = 0;
  let reportedReceived = 0;
  let lastReport = 0;
  let lastReportAtMs = 0;

  function begin(packet: Buffer): void {
    ssrc = ssrcOf(packet);
    firstSequence = sequenceOf(packet);
    highestSequence = firstSequence;
    received = 0;
    jitter = 0;
    lastTransit = undefined;
    reportedExpected = 0;
    reportedReceived = 0;
    lastReport = 0;
  }

  return {
    receive(packet, nowMs) {
      if (ssrcOf(packet) !== ssrc) begin(packet);
      received += 1;
      const ahead = (sequenceOf(packet) - highestSequence) & 0xffff;
      if (ahead < 0x8000) highestSequence += ahead;
      const transit = (nowMs * clockRateHz) / 1000 - timestampOf(packet);
      if (lastTransit !== undefined) {
        const difference = Math.abs(transit - lastTransit);
        if (difference < clockRateHz) jitter += (difference - jitter) / 16;
      }
      lastTransit = transit;
    },
    noteSenderReport(report, nowMs) {
      if (report.ssrc !== ssrc) return;
      lastReport = ((report.ntpSeconds << 16) | (report.ntpFraction >>> 16)) >>> 0;
      lastReportAtMs = nowMs;
    },
    report(nowMs) {
      if (ssrc === undefined) return undefined;
      const expected = highestSequence - firstSequence + 1;
      const expectedSince = expected - reportedExpected;
      const lostSince = Math.max(0, expectedSince - (received - reportedReceived));
      reportedExpected = expected;
      reportedReceived = received;
      return {
        ssrc,
        fractionLost: expectedSince > 0 ? Math.min(255, Math.floor((256 * lostSince) / expectedSince)) : 0,
        lost: Math.max(0, expected - received),
        highestSequence,
        jitter: Math.round(jitter),
        lastReport,
        delaySinceLastReport: lastReport ? Math.round(((nowMs - lastReportAtMs) * 65_536) / 1000) : 0,
      };
    },
  };
}
