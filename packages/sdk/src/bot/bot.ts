import type { RunnerArguments } from "./runner-arguments.ts";

/** A voice bot. It is called once per session, and the session ends when it returns. */
export type Bot = (args: RunnerArguments) => Promise<unknown>;

/** The long form of a bot, for those that prepare something before their first session. */
export interface BotDefinition {
  /** Runs once in each process, before the first session: load models, open pools. */
  prewarm?(): void | Promise<void>;
  /** Returns whether a new session may begin now. Running sessions are not affected. */
  readyz?(): Readiness | Promise<Readiness>;
  bot: Bot;
}

export type Readiness = boolean | { ready: boolean };

/** Declares a bot as a module's default export. */
export function defineBot(definition: BotDefinition): BotDefinition {
  return definition;
}
