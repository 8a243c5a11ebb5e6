/** Counters of a link at one moment; a transport fills in what it can know. */
export interface LinkSample {
  atMs: number;
  bytesUp: number;
  bytesDown: number;
  roundTripMs?: number;
  jitterMs?: number;
  packetsReceived?: number;
  packetsLost?: number;
  /** Sound waiting to be played right now. */
  bufferMs?: number;
  /** Time that all sound played so far has waited, and how much sound that was. */
  waited?: { totalMs: number; samples: number };
  /** Times the voice broke off for want of data. */
  gaps?: number;
  /** How the packets travel, e.g. "UDP, direct". */
  route?: string;
}

/** The link's figures on the page. */
export interface LinkFigures {
  upKbps: number;
  downKbps: number;
  bytesUp: number;
  bytesDown: number;
  roundTripMs: number | undefined;
  jitterMs: number | undefined;
  lossPercent: number | undefined;
  bufferMs: number | undefined;
  gaps: number | undefined;
  route: string | undefined;
}

export function toLinkFigures(before: LinkSample | undefined, now: LinkSample): LinkFigures {
  // A rebuilt peer connection starts its counters again.
  const earlier = before && before.bytesUp <= now.bytesUp ? before : undefined;
  const seconds = earlier ? (now.atMs - earlier.atMs) / 1000 : 0;
  const rate = (from: number | undefined, to: number) =>
    seconds > 0 ? Math.max(0, ((to - (from ?? 0)) * 8) / 1000 / seconds) : 0;
  return {
    upKbps: rate(earlier?.bytesUp, now.bytesUp),
    downKbps: rate(earlier?.bytesDown, now.bytesDown),
    bytesUp: now.bytesUp,
    bytesDown: now.bytesDown,
    roundTripMs: now.roundTripMs,
    jitterMs: now.jitterMs,
    lossPercent: lossPercent(now),
    bufferMs: now.bufferMs ?? recentWaitMs(earlier, now),
    gaps: now.gaps,
    route: now.route,
  };
}

/** Picks the figures of one audio session out of `RTCPeerConnection.getStats()`. */
export function fromPeerStats(report: Iterable<PeerStat>, atMs: number): LinkSample {
  const sample: LinkSample = { atMs, bytesUp: 0, bytesDown: 0 };
  const stats = [...report];
  const pair = selectedPair(stats);
  if (pair) {
    sample.bytesUp = pair.bytesSent ?? 0;
    sample.bytesDown = pair.bytesReceived ?? 0;
    sample.roundTripMs = toMs(pair.currentRoundTripTime);
    sample.route = routeOf(stats, pair);
  }
  for (const stat of stats) {
    if (stat.type === "inbound-rtp" && stat.kind === "audio") {
      sample.jitterMs = toMs(stat.jitter);
      sample.packetsReceived = stat.packetsReceived;
      sample.packetsLost = stat.packetsLost;
      const waitedMs = toMs(stat.jitterBufferDelay);
      const samples = stat.jitterBufferEmittedCount;
      if (waitedMs !== undefined && samples) sample.waited = { totalMs: waitedMs, samples };
    }
  }
  return sample;
}

/** The members of a statistics entry this page reads. */
export interface PeerStat {
  id: string;
  type: string;
  kind?: string;
  state?: string;
  nominated?: boolean;
  selectedCandidatePairId?: string;
  localCandidateId?: string;
  remoteCandidateId?: string;
  candidateType?: string;
  protocol?: string;
  bytesSent?: number;
  bytesReceived?: number;
  currentRoundTripTime?: number;
  jitter?: number;
  packetsReceived?: number;
  packetsLost?: number;
  jitterBufferDelay?: number;
  jitterBufferEmittedCount?: number;
}

function selectedPair(stats: PeerStat[]): PeerStat | undefined {
  const chosen = stats.find((stat) => stat.type === "transport")?.selectedCandidatePairId;
  const pairs = stats.filter((stat) => stat.type === "candidate-pair");
  // Firefox names no chosen pair on the transport.
  return (
    pairs.find((pair) => pair.id === chosen) ??
    pairs.find((pair) => pair.nominated && pair.state === "succeeded")
  );
}

function routeOf(stats: PeerStat[], pair: PeerStat): string | undefined {
  const local = stats.find((stat) => stat.id === pair.localCandidateId);
  const remote = stats.find((stat) => stat.id === pair.remoteCandidateId);
  if (!local) return undefined;
  const relayed = local.candidateType === "relay" || remote?.candidateType === "relay";
  return `${(local.protocol ?? "udp").toUpperCase()}, ${relayed ? "relayed" : "direct"}`;
}

/** The average wait of a sample since the previous reading. */
function recentWaitMs(before: LinkSample | undefined, now: LinkSample): number | undefined {
  if (!now.waited) return undefined;
  const samples = now.waited.samples - (before?.waited?.samples ?? 0);
  const totalMs = now.waited.totalMs - (before?.waited?.totalMs ?? 0);
  return samples > 0 ? totalMs / samples : undefined;
}

function lossPercent(sample: LinkSample): number | undefined {
  if (sample.packetsReceived === undefined) return undefined;
  const lost = Math.max(0, sample.packetsLost ?? 0);
  const all = sample.packetsReceived + lost;
  return all > 0 ? (lost / all) * 100 : undefined;
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
