// Says at once that it was entered, then sends every message back.
import type { RunnerArguments } from "vocalhost";
import { once } from "node:events";

export async function bot(args: RunnerArguments): Promise<void> {
  if (args.kind !== "websocket") return;
  const { websocket } = args;
  websocket.on("message", (data, isBinary) => websocket.send(data, { binary: isBinary }));
  websocket.send("entered");
  await once(websocket, "close");
}
