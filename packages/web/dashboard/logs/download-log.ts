import { api } from "../data/api.ts";
import { withoutEmpty, type LogQuery } from "./follow-log.ts";

const LINES_MAX = 10_000; // as many as one answer holds

/** Saves the newest lines as a text file; gives how many. */
export async function downloadLog({ agentName, ...filters }: LogQuery): Promise<number> {
  const { logs } = await api().agents.logs(agentName, {
    ...withoutEmpty(filters),
    order: "desc",
    limit: LINES_MAX,
  });
  const text = logs
    .toReversed()
    .map(({ timestamp, log }) => `${timestamp} ${log}\n`)
    .join("");
  saveFile(`${agentName}.log.txt`, new Blob([text], { type: "text/plain" }));
  return logs.length;
}

/** As if it were a link to a file. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // the browser reads it in its own time
}
