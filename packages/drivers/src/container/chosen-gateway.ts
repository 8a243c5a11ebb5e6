import { isIPv4 } from "node:net";

/**
 * Returns the address Docker chooses for this machine in a network without a configured gateway: the first one
 * available. Docker reports it only after a restart.
 */
export function chosenGateway({ Subnet = "", IPRange }: { Subnet?: string; IPRange?: string }): string[] {
  const subnet = firstIn(Subnet);
  if (subnet === undefined) return [];
  const range = firstIn(IPRange || Subnet) ?? subnet;
  return [toAddress(range === subnet ? subnet + 1 : range)]; // the very first is the network's own
}

function firstIn(text: string): number | undefined {
  const [address = "", bits = "32"] = text.split("/");
  if (!isIPv4(address)) return undefined;
  const size = 2 ** (32 - Number(bits));
  const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return number - (number % size);
}

function toAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
