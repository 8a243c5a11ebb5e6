import { execFileSync } from "node:child_process";
import { isRunning } from "./service-process.ts";

/** Networks and interfaces bear the number of the process that made them. */
export const MARK = `vh${process.pid}`;

interface Interface {
  addr_info: { local?: string }[];
}

/** Makes a network of our own, of this name with our mark; gives the whole name. To be deleted. */
export function addNetwork(name: string): string {
  deleteAbandoned();
  const whole = `${MARK}${name}`;
  ip("netns", "add", whole);
  ip("-n", whole, "link", "set", "lo", "up");
  return whole;
}

export function deleteNetwork(name: string): void {
  ip("netns", "del", name);
}

/** Put before a command to run it there. */
export function within(network: string): string[] {
  return ["nsenter", `--net=/var/run/netns/${network}`];
}

/** Returns a number up to the last with which no interface here has an address of that prefix. */
export function freeNumber(prefix: string, last: number): number {
  const interfaces = JSON.parse(ip("-j", "-4", "addr", "show")) as Interface[];
  const taken = interfaces.flatMap(({ addr_info }) => addr_info.map(({ local = "" }) => local));
  for (let step = 0; step < last; step += 1) {
    const number = 1 + ((process.pid + step) % last); // who looks at the same moment begins elsewhere
    if (!taken.some((address) => address.startsWith(`${prefix}.${number}.`))) return number;
  }
  throw new Error(`Every network of ${prefix}.1 to ${prefix}.${last} is in use: see \`ip addr\``);
}

export function ip(...args: string[]): string {
  return execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
}

/** A run that was killed leaves its networks, with addresses that lead the next run's calls astray. */
function deleteAbandoned(): void {
  for (const name of abandoned())
    try {
      deleteNetwork(name);
    } catch (error) {
      if (abandoned().includes(name)) throw error; // else another test was faster
    }
}

function abandoned(): string[] {
  const all = ip("netns", "list").matchAll(/^(vh(\d+)[a-z])\b/gm);
  return [...all].flatMap(([, name = "", pid]) => (isRunning(Number(pid)) ? [] : [name]));
}
