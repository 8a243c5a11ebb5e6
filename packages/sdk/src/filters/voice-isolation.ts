import type { FilterStatus, VoiceFilter } from "@vocalhost/protocol";
import { pathToFileURL } from "node:url";
import type { Log } from "../log.ts";
import type { FilterFigures } from "./audio-filter.ts";

/** The module that a hosted service names as its engine. */
export interface VoiceEngineModule {
  openEngine(options: { model: VoiceFilter; sampleRateHz: number }): VoiceEngine | Promise<VoiceEngine>;
}

/** One stream of audio on its way through the engine; may give samples up to 30 ms later than they came. */
export interface VoiceEngine extends Disposable {
  process(samples: Int16Array): Int16Array;
  flush(): Int16Array;
  readonly figures: FilterFigures;
}

/** Voice isolation of the one session that an instance runs, or of all that the runner does. */
export interface VoiceIsolation {
  /** `always`: also where the bot chose no filter. */
  readonly attaches: "when-asked" | "always";
  /** What the session's deployment asks for; null before there is a session. */
  readonly asked: VoiceFilter | null;
  begin(asked: VoiceFilter | null): void;
  /** The engine for one stream; undefined when there is none here. Rejects when it fails. */
  open(options: { model: VoiceFilter; sampleRateHz: number }): Promise<VoiceEngine | undefined>;
  /** What became of it so far; null when it was not asked for. */
  status(): FilterStatus | null;
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
  const opened = new Set<VoiceEngine>();
  const closed: Figures = { framesIn: 0, framesFiltered: 0 };
  let wasOpened = false;
  let module: VoiceEngineModule | undefined;
  let asked: VoiceFilter | null = null;
  let hasFailed = false;
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

  function watched(engine: VoiceEngine): VoiceEngine {
    const noting = (work: () => Int16Array): Int16Array => {
      try {
        return work();
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
    return {
      process: (samples) => noting(() => engine.process(samples)),
      flush: () => noting(() => engine.flush()),
      get figures() {
        return engine.figures;
      },
      [Symbol.dispose]() {
        if (opened.delete(engine)) addFigures(closed, engine);
        engine[Symbol.dispose]();
      },
    };
  }

  return {
    attaches: options.attaches ?? "when-asked",
    get asked() {
      return asked;
    },
    begin(filter) {
      asked = filter;
    },
    async open(stream) {
      await loading;
      if (!module) return undefined;
      try {
        const engine = await module.openEngine(stream);
        opened.add(engine);
        wasOpened = true;
        return watched(engine);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    },
    status() {
      if (asked === null) return null;
      const attached = wasOpened ? "ran" : "not-attached";
      const state = !module ? "unavailable" : hasFailed ? "failed" : attached;
      const figures = { ...closed };
      for (const engine of opened) addFigures(figures, engine);
      return { asked, state, ...figures };
    },
  };
}

type Figures = Pick<FilterStatus, "framesIn" | "framesFiltered">;

function addFigures(total: Figures, engine: VoiceEngine): void {
  total.framesIn += countOf(engine, "framesIn");
  total.framesFiltered += countOf(engine, "framesFiltered");
}

/** A record that cannot be read would cost the session its length, so an engine's figures are not believed blindly. */
function countOf(engine: VoiceEngine, name: keyof FilterFigures): number {
  try {
    const count = engine.figures[name];
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
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
