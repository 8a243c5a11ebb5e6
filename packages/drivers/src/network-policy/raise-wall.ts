import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { markOf, ruleFor, tableOf, wallRules, type Wall } from "./wall-rules.ts";

/** Why bots cannot be walled off from here. Its message says what to do. */
export class WallError extends Error {
  override readonly name = "WallError";
}

export type WallState = "up" | "down";

const NFT_MS = 10_000;

/** Puts the rules into the kernel of this machine, in place of those that were there. */
export async function raiseWall(wall: Wall): Promise<void> {
  await filterBridged(wall);
  await nft(["-f", "-"], wallRules(wall));
}

export async function takeDownWall(wall: Pick<Wall, "network">): Promise<void> {
  const table = `table inet ${tableOf(wall)}`;
  await nft(["-f", "-"], `${table}\ndelete ${table}\n`);
}

/** `down` also when other rules are there than these. */
export async function readWall(wall: Wall): Promise<WallState> {
  const listed = await nft(["list", "table", "inet", tableOf(wall)]).catch((error: unknown) => {
    if (error instanceof WallError && /No such file or directory/.test(error.message)) return "";
    throw error;
  });
  if (![markOf(wall), ...(wall.own ?? []).map(ruleFor)].every((part) => listed.includes(part))) return "down";
  const isBridged = await Promise.all(bridged(wall).map((path) => readFile(path, "utf8").catch(() => "0")));
  return isBridged.every((value) => value.trim() === "1") ? "up" : "down";
}

/** Otherwise what goes from one bot's port of the bridge to another's never comes past the rules. */
async function filterBridged(wall: Wall): Promise<void> {
  for (const path of bridged(wall)) {
    const value = await readFile(path, "utf8").catch(async () => {
      await run("modprobe", ["br_netfilter"], "").catch(() => undefined);
      return readFile(path, "utf8").catch(() => undefined);
    });
    if (value === undefined)
      throw new WallError("The kernel cannot filter between bots: it has no module br_netfilter");
    if (value.trim() !== "1") await writeFile(path, "1").catch(rethrow);
  }
}

function bridged({ gateways }: Wall): string[] {
  const names = gateways.some((address) => isIPv6(address)) ? ["iptables", "ip6tables"] : ["iptables"];
  return names.map((name) => `/proc/sys/net/bridge/bridge-nf-call-${name}`);
}

function rethrow(error: unknown): never {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "EROFS")
    throw new WallError(
      "On this machine: sysctl -w net.bridge.bridge-nf-call-iptables=1; it cannot be set from in here",
    );
  if (/^E(?:ACCES|PERM)$/.test(code)) throw new WallError("Only root can see and change the wall");
  throw new WallError(message);
}

async function nft(args: string[], input = ""): Promise<string> {
  if (process.getuid?.() !== 0) throw new WallError("Only root can see and change the wall");
  return run("nft", args, input);
}

async function run(program: string, args: string[], input: string): Promise<string> {
  const child = spawn(program, args, {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    timeout: NFT_MS,
    killSignal: "SIGKILL",
  });
  let said = "";
  let complained = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complained += text));
  child.stdin.on("error", () => undefined).end(input);
  const [code] = (await once(child, "close").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new WallError(`There is no ${program}. Install it: apt-get install nftables`);
  })) as [number | null];
  if (code === 0) return said;
  const isForbidden = /Operation not permitted/.test(complained);
  throw new WallError(
    isForbidden ? "Only root can see and change the wall" : `${program}: ${complained.trim().slice(0, 500)}`,
  );
}
