import { printed, startChild, type Child } from "./child.ts";
import { SERVER_CORE } from "./cores.ts";

/** A runner with one of our bots, in a process of its own on the measured core. */
export interface RunnerChild extends Child {
  readonly url: string;
}

export interface RunnerChildOptions {
  /** The bot's file, from the repository's root. */
  bot: string;
  /** Flags of the runner besides its address. */
  flags?: string[];
  environment?: Record<string, string>;
  nodeFlags?: string[];
}

export const ECHO_BOT = "examples/echo/bot.ts";
export const PARROT_BOT = "examples/parrot/bot.ts";
/** No runner at all: what the sockets alone cost. */
export const BARE_SOCKETS = "bench/load/bare-socket-server.ts";

export async function startRunner(options: RunnerChildOptions): Promise<RunnerChild> {
  const child = startChild({
    file: options.bot,
    args: ["--port", "0", "--host", "127.0.0.1", ...(options.flags ?? [])],
    core: SERVER_CORE,
    environment: options.environment ?? {},
    nodeFlags: options.nodeFlags ?? [],
  });
  try {
    const [, url] = await printed(child, /Talk to it\s+(http:\/\/\S+)/);
    return Object.assign(child, { url: url ?? "" });
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}
