import { carrierNames, carriers, isCarrier, type SignatureKeys } from "@vocalhost/carriers";
import { transportNames } from "@vocalhost/protocol";
import { styleText } from "node:util";
import { isLoopback, type RunnerConfig } from "./config.ts";
import type { Runner } from "./start-runner.ts";

/** Returns the text shown to the developer once the runner is up. */
export function banner(runner: Runner, config: RunnerConfig): string {
  const colours = process.stdout.isTTY;
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(style, text) : text;
  const rows: [string, string][] = [
    ["Talk to it", paint("cyan", runner.url)],
    ["Transports", config.onlyTransport ? `${config.onlyTransport} only (-t)` : transportNames.join(", ")],
    ["WebSockets", socketAdmission(config)],
  ];
  if (!config.onlyTransport || isCarrier(config.onlyTransport)) rows.push(...phoneRows(runner, config));
  if (config.voiceFilter)
    rows.push(["Voice filter", `${config.voiceFilter.model}, in every session (--voice-filter)`]);
  if (config.takesCalls) {
    const base = config.proxy ? `https://${config.proxy}` : runner.url;
    rows.push(["Dial-in", `Daily ${base}/daily-dialin-webhook, LiveKit ${base}/livekit-webhook`]);
  }
  if (config.proxy) rows.push(["Public name", config.proxy]);
  if (config.allowedOrigins.length > 0)
    rows.push(["Origins", `this one, ${config.allowedOrigins.join(", ")}`]);
  if (config.folder) rows.push(["Files", `${runner.url}/files/ serves ${config.folder}`]);
  const width = Math.max(...rows.map(([label]) => label.length));
  return [
    "",
    `  ${paint("bold", "Vocalhost")} is running your bot`,
    "",
    ...rows.map(([label, text]) => `  ${paint("gray", label.padEnd(width))}  ${text}`),
    ...config.warnings.map((warning) => `\n  ${paint("yellow", "!")} ${warning}`),
    "",
    "",
  ].join("\n");
}

function socketAdmission({ socketAuth, host, proxy }: RunnerConfig): string {
  if (socketAuth === "token") return "need a token from /start";
  if (proxy) return `open to everyone who can reach ${proxy}`;
  return isLoopback(host) ? "open to this machine" : `open to everyone who can reach ${host}`;
}

function phoneRows(runner: Runner, config: RunnerConfig): [string, string][] {
  const base = config.proxy ? `https://${config.proxy}` : runner.url;
  return [
    ["Phone calls", `webhook ${base}/, stream ${base.replace(/^http/, "ws")}/ws`],
    ["Signatures", signatureStatus(config.signatureKeys)],
    ...(config.dialoutKey
      ? [["Placing calls", `POST ${base}/dialout, with your key`] as [string, string]]
      : []),
  ];
}

function signatureStatus(keys: SignatureKeys): string {
  const signing = carrierNames.filter((name) => carriers[name].signature);
  const off = signing.filter((name) => !keys[name]);
  return off.length === 0
    ? `webhooks checked for ${listed.format(signing.map((name) => carriers[name].title))}`
    : `not checked, no key set: ${off.map((name) => `${carriers[name].title} (${carriers[name].signature?.variable})`).join(", ")}`;
}

const listed = new Intl.ListFormat("en-GB"); // "a, b and c"
