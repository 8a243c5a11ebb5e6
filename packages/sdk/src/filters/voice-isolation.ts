import type { FilterStatus, VoiceFilter } from "@vocalhost/protocol";
import { pathToFileURL } from "node:url";
import type { Log } from "../log.ts";
import { createFilterSwitches, type FilterSwitch } from "./filter-switch.ts";
import { createFilterTally, type VoiceEngine } from "./filter-tally.ts";

/** The interface of an engine module. */
export interface VoiceEngineModule {
  openEngine(options: { model: VoiceFilter; sampleRateHz: number }): VoiceEngine | Promise<VoiceEngine>;
}

/** Voice isolation for an instance's session, or for all sessions of a runner. */
export interface VoiceIsolation {
  /** `always`: also where the bot chose no filter. */
  readonly attaches: "when-asked" | "always";
  /** The filter that the session's deployment configures; null before there is a session. */
  readonly asked: VoiceFilter | null;
  begin(asked: VoiceFilter | null): void;
  /** Opens an engine for one stream; undefined when there is none. Rejects when it fails. */
  open(options: VoiceStreamOptions): Promise<VoiceEngine | undefined>;
  /** Returns the switch of a session whose audio is being filtered. */
  switchOf(sessionId: string): FilterSwitch | undefined;
  /** Returns the filter's status; null when none was configured. */
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
  // Loaded before the first call, without waiting: a broken engine must not keep the bot from its calls.
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

/**
 * Sets the process's voice isolation. Called by an instance before it loads its bot, and by the runner with
 * `--voice-filter`.
 */
export function provideVoiceIsolation(isolation: VoiceIsolation): void {
  ofThisProcess = isolation;
}

/** Returns the process's voice isolation; undefined outside the service. */
export function providedVoiceIsolation(): VoiceIsolation | undefined {
  return ofThisProcess;
}
