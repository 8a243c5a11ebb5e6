import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Another way to an engine's socket, on which questions or answers can be held up. */
export interface LateEngine extends AsyncDisposable {
  socket: string;
  /** Holds requests with these words in their first line, from now on. */
  hold(what: "question" | "answer", words: string): Held;
}

export interface Held {
  /** Resolves when the first is held. */
  arrived: Promise<void>;
  /** Lets all go on. */
  release(): void;
}

interface Hold {
  what: "question" | "answer";
  words: string;
  arrived: PromiseWithResolvers<void>;
  released: PromiseWithResolvers<void>;
}

export async function startLateEngine(engineSocket: string): Promise<LateEngine> {
  const folder = mkdtempSync(join(tmpdir(), "late-engine-"));
  const socket = join(folder, "engine.sock");
  const sockets = new Set<Socket>();
  const holds = new Set<Hold>();

  function relay(client: Socket): void {
    const engine = connect({ path: engineSocket, allowHalfOpen: true });
    let line = "";
    const pass = (from: Socket, to: Socket, what: Hold["what"]): void => {
      let passed = Promise.resolve(); // in their order, however long one is held
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.once("close", () => sockets.delete(from));
      from.on("data", (bytes) => {
        if (what === "question") line = bytes.toString("latin1").split("\r\n", 1)[0] ?? "";
        const hold = [...holds].find((each) => each.what === what && line.includes(each.words));
        hold?.arrived.resolve();
        passed = passed.then(() => hold?.released.promise).then(() => void to.write(bytes));
      });
      from.once("end", () => void passed.then(() => to.end()));
    };
    pass(client, engine, "question");
    pass(engine, client, "answer");
  }

  const server = createServer({ allowHalfOpen: true }, relay).listen(socket);
  await once(server, "listening");
  return {
    socket,
    hold(what, words) {
      const hold: Hold = {
        ...{ what, words },
        ...{ arrived: Promise.withResolvers(), released: Promise.withResolvers() },
      };
      holds.add(hold);
      return {
        arrived: hold.arrived.promise,
        release() {
          holds.delete(hold);
          hold.released.resolve();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const each of sockets) each.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
