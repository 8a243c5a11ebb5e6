import { transportNames } from "@vocalhost/protocol";
import { styleText } from "node:util";
import type { RunnerConfig } from "./config.ts";
import type { Runner } from "./start-runner.ts";

/** What a developer wants to know once the runner is up. */
export function banner(runner: Runner, config: RunnerConfig): string {
  const colours = process.stdout.isTTY;
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(style, text) : text;
  const rows: [string, string][] = [
    ["Talk to it", paint("cyan", runner.url)],
    ["Transports", config.onlyTransport ? `${config.onlyTransport} only (-t)` : transportNames.join(", ")],
    ["WebSockets", config.socketAuth === "token" ? "need a token from /start" : "open to this machine"],
  ];
  if (config.proxy) rows.push(["Public name", config.proxy]);
  if (config.allowedOrigins.length > 0)
    rows.push(["Origins", `this one, ${config.allowedOrigins.join(", ")}`]);
  if (config.folder) rows.push(["Files", `${runner.url}/files/ serves ${config.folder}`]);
  const width = Math.max(...rows.map(([label]) => label.length));
  return [
    "",
    `  ${paint("bold", "Vocalhost")} runs your bot`,
    "",
    ...rows.map(([label, text]) => `  ${paint("gray", label.padEnd(width))}  ${text}`),
    ...config.warnings.map((warning) => `\n  ${paint("yellow", "!")} ${warning}`),
    "",
    "",
  ].join("\n");
}
