import type { ReceptionReport } from "./rtcp.ts";
import type { RtpPacket } from "./rtp.ts";

/** Reception statistics of a stream as RFC 3550 defines them; the sender adapts its encoder to them. */
export interface Reception {
  receive(packet: RtpPacket): void;
  /** Notes the sender's report of its clock. */
  senderReported(sender: { ssrc: number; reportId: number }): void;
  /** Returns a report for the sender; undefined when nothing new has arrived. */
  report(): ReceptionReport | undefined;
}

export interface ReceptionOptions {
  clockRateHz: number;
  nowMs: () => number;
}

interface Stream {
  ssrc: number;
  firstSequence: number;
  highestSequence: number;
  received: number;
  jitter: number;
  transit: number | undefined;
  reportedExpected: number;
  reportedReceived: number;
  lastReport: number;
  lastReportAtMs: number;
}

export function createReception({ clockRateHz, nowMs }: ReceptionOptions): Reception {
  let stream: Stream | undefined;

  function measureJitter(of: Stream, timestamp: number): void {
    const transit = (nowMs() * clockRateHz) / 1000 - timestamp;
    const difference = Math.abs(transit - (of.transit ?? transit));
    if (difference < clockRateHz) of.jitter += (difference - of.jitter) / 16; // a larger value is a wrapped clock
    of.transit = transit;
  }

  return {
    receive({ ssrc, sequenceNumber, timestamp }) {
      if (stream?.ssrc !== ssrc) stream = begin(ssrc, sequenceNumber);
      stream.received += 1;
      const ahead = (sequenceNumber - stream.highestSequence) & 0xffff;
      if (ahead < 0x8000) stream.highestSequence += ahead;
      measureJitter(stream, timestamp);
    },
    senderReported({ ssrc, reportId }) {
      if (stream?.ssrc !== ssrc) return;
      stream.lastReport = reportId;
      stream.lastReportAtMs = nowMs();
    },
    report() {
      if (!stream || stream.received === stream.reportedReceived) return undefined;
      const { ssrc, highestSequence, received, lastReport } = stream;
      const expected = highestSequence - stream.firstSequence + 1;
      const expectedSince = expected - stream.reportedExpected;
      const lostSince = Math.max(0, expectedSince - (received - stream.reportedReceived));
      stream.reportedExpected = expected;
      stream.reportedReceived = received;
      return {
        ssrc,
        fractionLost: expectedSince > 0 ? Math.min(255, Math.floor((256 * lostSince) / expectedSince)) : 0,
        lost: Math.max(0, expected - received),
        highestSequence,
        jitter: Math.round(stream.jitter),
        lastReport,
        delaySinceLastReport: lastReport
          ? Math.round(((nowMs() - stream.lastReportAtMs) * 65_536) / 1000)
          : 0,
      };
    },
  };
}

function begin(ssrc: number, sequenceNumber: number): Stream {
  return {
    ssrc,
    firstSequence: sequenceNumber,
    highestSequence: sequenceNumber,
    received: 0,
    jitter: 0,
    transit: undefined,
    reportedExpected: 0,
    reportedReceived: 0,
    lastReport: 0,
    lastReportAtMs: 0,
  };
}
