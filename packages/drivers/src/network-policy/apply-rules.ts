import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { markOf, ruleFor, tableOf, networkPolicyRules, type NetworkPolicy } from "./rules.ts";

/** Why bots cannot be kept apart from here. Its message says what to do. */
export class NetworkPolicyError extends Error {
  override readonly name = "NetworkPolicyError";
}

export type NetworkPolicyState = "up" | "down";

const NFT_MS = 10_000;

/** Puts the rules into the kernel of this machine, in place of those that were there. */
export async function applyNetworkPolicy(networkPolicy: NetworkPolicy): Promise<void> {
  await filterBridged(networkPolicy);
  await nft(["-f", "-"], networkPolicyRules(networkPolicy));
}

export async function removeNetworkPolicy(networkPolicy: Pick<NetworkPolicy, "network">): Promise<void> {
  const table = `table inet ${tableOf(networkPolicy)}`;
  await nft(["-f", "-"], `${table}\ndelete ${table}\n`);
}

/** `down` also when other rules are there than these. */
export async function readNetworkPolicy(networkPolicy: NetworkPolicy): Promise<NetworkPolicyState> {
  const listed = await nft(["list", "table", "inet", tableOf(networkPolicy)]).catch((error: unknown) => {
    if (error instanceof NetworkPolicyError && /No such file or directory/.test(error.message)) return "";
    throw error;
  });
  if (
    ![markOf(networkPolicy), ...(networkPolicy.own ?? []).map(ruleFor)].every((part) => listed.includes(part))
  )
    return "down";
  const isBridged = await Promise.all(
    bridged(networkPolicy).map((path) => readFile(path, "utf8").catch(() => "0")),
  );
  return isBridged.every((value) => value.trim() === "1") ? "up" : "down";
}

/** Otherwise what goes from one bot's port of the bridge to another's never comes past the rules. */
async function filterBridged(networkPolicy: NetworkPolicy): Promise<void> {
  for (const path of bridged(networkPolicy)) {
    const value = await readFile(path, "utf8").catch(async () => {
      await run("modprobe", ["br_netfilter"], "").catch(() => undefined);
      return readFile(path, "utf8").catch(() => undefined);
    });
    if (value === undefined)
      throw new NetworkPolicyError("The kernel cannot filter between bots: it has no module br_netfilter");
    if (value.trim() !== "1") await writeFile(path, "1").catch(rethrow);
  }
}

function bridged({ gateways }: NetworkPolicy): string[] {
  const names = gateways.some((address) => isIPv6(address)) ? ["iptables", "ip6tables"] : ["iptables"];
  return names.map((name) => `/proc/sys/net/bridge/bridge-nf-call-${name}`);
}

function rethrow(error: unknown): never {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "EROFS")
    throw new NetworkPolicyError(
      "On this machine: sysctl -w net.bridge.bridge-nf-call-iptables=1; it cannot be set from in here",
    );
  if (/^E(?:ACCES|PERM)$/.test(code))
    throw new NetworkPolicyError("Only root can see and change the network policy");
  throw new NetworkPolicyError(message);
}

async function nft(args: string[], input = ""): Promise<string> {
  if (process.getuid?.() !== 0)
    throw new NetworkPolicyError("Only root can see and change the network policy");
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
    throw new NetworkPolicyError(`There is no ${program}. Install it: apt-get install nftables`);
  })) as [number | null];
  if (code === 0) return said;
  const isForbidden = /Operation not permitted/.test(complained);
  throw new NetworkPolicyError(
    isForbidden
      ? "Only root can see and change the network policy"
      : `${program}: ${complained.trim().slice(0, 500)}`,
  );
}
