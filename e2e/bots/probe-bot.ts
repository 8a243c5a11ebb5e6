// Says back what it hears and remembers how it was called. Its own routes let tests look inside.
import { createTransport, type RunnerArguments } from "vocalhost";
import { app, main } from "vocalhost/runner";
import { mountRunnerFigures } from "./figures.ts";

interface Call {
  kind: string;
  sessionId: string;
  body: unknown;
  callData: unknown;
  transportType: unknown;
  cliArgs: unknown;
  environment: string | undefined;
  /** Why the session was ended; null while it runs. */
  ended: unknown;
}

const calls: Call[] = [];

app.get("/calls", async () => calls);
app.all("/mirror", async (request) => ({
  method: request.method,
  sessionId: request.sessionId,
  query: request.query,
  body: request.body ?? null,
}));
app.all("/mirror/deeper", async (request) => ({ method: request.method, sessionId: request.sessionId }));
app.get("/mirror-socket", { websocket: true }, (socket, request) => {
  socket.on("message", (data: Buffer) =>
    socket.send(`${request.sessionId ?? "no session"}: ${data.toString()}`),
  );
});
app.get("/variable/:name", async (request) => {
  const { name } = request.params as { name: string };
  return { value: process.env[name] ?? null };
});
app.post("/wants-a-name", { schema: { body: { type: "object", required: ["name"] } } }, async () => ({
  ok: true,
}));
app.get("/breaks", async () => {
  throw new Error("a secret detail of the inside");
});
await mountRunnerFigures();

export async function bot(args: RunnerArguments): Promise<void> {
  const call: Call = {
    kind: args.kind,
    sessionId: args.sessionId,
    body: args.body,
    callData: args.callData,
    transportType: args.kind === "websocket" ? args.transportType : null,
    cliArgs: args.cliArgs,
    environment: process.env["ENV"],
    ended: null,
  };
  calls.push(call);
  args.signal.addEventListener("abort", () => (call.ended = args.signal.reason.reason));
  if (args.kind === "room" && args.provider === "daily" && sipHeader(args, "X-Client") === "own")
    return aborted(args.signal); // as one that joins with a client of its own
  const transport = await createTransport(args);
  transport.rtvi.on("client-message", (message) => message.respond(message.data));
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

function sipHeader({ callData }: RunnerArguments, name: string): unknown {
  return callData?.body[name];
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

if (import.meta.main) await main();
