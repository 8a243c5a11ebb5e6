import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "./child.ts";
import { findProgram, LOAD_CORE } from "./cores.ts";
import { launch } from "./launch.ts";

/** Voice packets of the server with the kernel's timestamps, while it lasts. */
export interface Capture extends AsyncDisposable {
  /** Ends the capture. */
  packets(): Promise<CapturedPacket[]>;
}

// RTP of payload type 111 whose SSRC is not one of the load's (`peer-load.ts`).
const SERVER_VOICE = [
  "(udp and udp[8] = 0x80 and udp[9] = 111 and udp[16:2] != 0x5eed)",
  "(ip6[6] = 17 and ip6[48] = 0x80 and ip6[49] = 111 and ip6[56:2] != 0x5eed)",
].join(" or ");
const HEADER_BYTES = 80;
const LIMIT = ["-G", "120", "-W", "1"]; // ends by itself after two minutes, whatever happens to us

export function canCapture(): boolean {
  return process.getuid?.() === 0 && findProgram("tcpdump") !== undefined;
}

export async function startCapture(): Promise<Capture> {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-bench-"));
  const file = join(folder, "packets.pcap");
  const args = [
    "-i",
    "lo",
    "-n",
    "-B",
    "16384",
    "-s",
    String(HEADER_BYTES),
    "-w",
    file,
    ...LIMIT,
    SERVER_VOICE,
  ];
  const child = launch(findProgram("tcpdump") ?? "tcpdump", args, {
    core: LOAD_CORE,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const exited = once(child, "exit");
  while (!said.includes("listening on")) {
    if (child.exitCode !== null) throw new Error(`tcpdump failed: ${said}`);
    await pause(5);
  }
  async function end(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGINT");
    await exited;
  }
  return {
    async packets() {
      await end();
      if (!/ 0 packets dropped by kernel/.test(` ${said.replaceAll("\n", " ")}`))
        throw new Error(`The capture lost packets: ${said}`);
      return parseCapture(readFileSync(file));
    },
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The part of a captured RTP packet that tells about timing. */
export interface CapturedPacket {
  atMs: number;
  ssrc: number;
  sequenceNumber: number;
}

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const ETHERNET_BYTES = 14;
const IPV6_BYTES = 40;
const UDP_BYTES = 8;

/** Reads a capture file of RTP packets on a loopback interface. */
function parseCapture(file: Buffer): CapturedPacket[] {
  const packets: CapturedPacket[] = [];
  for (let at = FILE_HEADER_BYTES; at + RECORD_HEADER_BYTES <= file.length;) {
    const atMs = file.readUInt32LE(at) * 1000 + file.readUInt32LE(at + 4) / 1000;
    const storedBytes = file.readUInt32LE(at + 8);
    const ip = at + RECORD_HEADER_BYTES + ETHERNET_BYTES;
    const firstByte = file.readUInt8(ip);
    const rtp = ip + (firstByte >> 4 === 6 ? IPV6_BYTES : 4 * (firstByte & 0x0f)) + UDP_BYTES;
    at += RECORD_HEADER_BYTES + storedBytes;
    if (at > file.length) break; // the last record may be cut short
    packets.push({ atMs, ssrc: file.readUInt32BE(rtp + 8), sequenceNumber: file.readUInt16BE(rtp + 2) });
  }
  return packets;
}
