import type { FilterStatus, VoiceFilter } from "@vocalhost/protocol";
import { pathToFileURL } from "node:url";
import type { Log } from "../log.ts";
import { createFilterSwitches, type FilterSwitch } from "./filter-switch.ts";
import { createFilterTally, type VoiceEngine } from "./filter-tally.ts";

/** The module that a hosted service names as its engine. */
export interface VoiceEngineModule {
  openEngine(options: { model: VoiceFilter; sampleRateHz: number }): VoiceEngine | Promise<VoiceEngine>;
}

/** Voice isolation of the one session that an instance runs, or of all that the runner does. */
export interface VoiceIsolation {
  /** `always`: also where the bot chose no filter. */
  readonly attaches: "when-asked" | "always";
  /** What the session's deployment asks for; null before there is a session. */
  readonly asked: VoiceFilter | null;
  begin(asked: VoiceFilter | null): void;
  /** The engine for one stream; undefined when there is none here. Rejects when it fails. */
  open(options: VoiceStreamOptions): Promise<VoiceEngine | undefined>;
  /** Of a session whose audio goes through it now. */
  switchOf(sessionId: string): FilterSwitch | undefined;
  /** What became of it so far; null when it was not asked for. */
  status(): FilterStatus | null;
}

export interface VoiceStreamOptions {
  model: VoiceFilter;
  sampleRateHz: number;
  sessionId: string;
}

export interface VoiceIsolationOptions {
  /** Path of the module. */
  engine: string | undefined;
  log: Log;
  /** @default "when-asked" */
  attaches?: VoiceIsolation["attaches"];
}

export function createVoiceIsolation(options: VoiceIsolationOptions): VoiceIsolation {
  const { log } = options;
  const tally = createFilterTally();
  const switches = createFilterSwitches();
  let module: VoiceEngineModule | undefined;
  let asked: VoiceFilter | null = null;
  // Loaded before the first call; not waited for, because a broken engine must not keep the bot from its calls.
  const loading = options.engine === undefined ? undefined : load(options.engine);

  async function load(path: string): Promise<void> {
    try {
      module = (await import(pathToFileURL(path).href)) as VoiceEngineModule;
      if (typeof module.openEngine !== "function") throw new TypeError("It has no openEngine()");
    } catch (error) {
      module = undefined;
      log.error({ err: error, path }, "the voice filter's engine cannot be loaded");
    }
  }

  return {
    attaches: options.attaches ?? "when-asked",
    get asked() {
      return asked;
    },
    begin(filter) {
      asked = filter;
    },
    switchOf: switches.of,
    async open({ sessionId, ...stream }) {
      await loading;
      if (!module) return undefined;
      try {
        const engine = tally.watch(await module.openEngine(stream), stream.sampleRateHz);
        return switches.put(engine, { ...stream, sessionId, bypassed: tally.bypassed });
      } catch (error) {
        tally.failed();
        throw error;
      }
    },
    status() {
      if (asked === null) return null;
      return { asked, state: module ? tally.state() : "unavailable", ...tally.sums() };
    },
  };
}

let ofThisProcess: VoiceIsolation | undefined;

/** Called by a hosted instance before it loads its bot, and by the runner with `--voice-filter`. */
export function provideVoiceIsolation(isolation: VoiceIsolation): void {
  ofThisProcess = isolation;
}

/** Undefined where no service runs the bot. */
export function providedVoiceIsolation(): VoiceIsolation | undefined {
  return ofThisProcess;
}
