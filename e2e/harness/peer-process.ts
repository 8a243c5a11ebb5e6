// A caller in a process of its own, so that it can be in a network of its own. Told by lines of JSON what to do.
import { createSocket } from "node:dgram";
import { createInterface } from "node:readline";
import { until } from "../../testing/wait.ts";
import { createPeerClient, freePeerClients } from "./peer-client.ts";

export type PeerCommand =
  | { do: "offer"; iceServers: string[] }
  | { do: "accept"; sdp: string }
  /** Whether a datagram can be sent there at all. */
  | { do: "reach"; address: string; port: number };

let peer: ReturnType<typeof createPeerClient> | undefined;

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await obey(JSON.parse(line) as PeerCommand))}\n`);
freePeerClients();

async function obey(command: PeerCommand): Promise<object> {
  switch (command.do) {
    case "offer": {
      peer?.close();
      peer = createPeerClient({ iceServers: command.iceServers });
      const sdp = await peer.offer();
      return { sdp, candidates: peer.candidates() };
    }
    case "accept": {
      const current = peer;
      if (!current) throw new Error("No offer was made");
      current.accept(command.sdp);
      await current.connected();
      await current.speak(25, "tone");
      await until(() => current.heard.voiced > 5, 15_000, "echo");
      return { voiced: current.heard.voiced, route: current.route() };
    }
    case "reach": {
      const socket = createSocket("udp4");
      const { promise, resolve } = Promise.withResolvers<string>();
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.send("hello", command.port, command.address, (error: NodeJS.ErrnoException | null) =>
        resolve(error?.code ?? "sent"),
      );
      const outcome = await promise;
      socket.close();
      return { outcome };
    }
    default:
      return command satisfies never;
  }
}
