import type { LogLine } from "@vocalhost/protocol";
import { stripVTControlCharacters } from "node:util";
import type { CommandContext } from "../define-command.ts";
import { shortId } from "../service/short-id.ts";
import type { Style } from "../ui.ts";
import { levelOf } from "./level.ts";

const INSTANCE_STYLES: readonly Style[] = ["cyan", "green", "yellow", "bold"];

/** Time, instance and text of every line; each instance in its colour. With `--json` an object a line. */
export function createLineWriter({
  ui,
  isJson,
}: Pick<CommandContext, "ui" | "isJson">): (line: LogLine) => void {
  const styles = new Map<string, Style>();
  const styleOf = (instance: string): Style => {
    const style = styles.get(instance) ?? INSTANCE_STYLES[styles.size % INSTANCE_STYLES.length] ?? "dim";
    styles.set(instance, style);
    return style;
  };
  return (line) => {
    if (isJson) return ui.print(JSON.stringify(line));
    const { timestamp, instanceId, log } = line;
    const time = ui.style("dim", `${timestamp.slice(0, 10)} ${timestamp.slice(11, 23)}Z`);
    const instance = instanceId === undefined ? [] : [ui.style(styleOf(instanceId), shortId(instanceId))];
    const text = stripVTControlCharacters(log);
    const isBad = ["ERROR", "CRITICAL"].includes(levelOf(text));
    ui.print([time, ...instance, isBad ? ui.style("red", text) : text].join(" "));
  };
}
