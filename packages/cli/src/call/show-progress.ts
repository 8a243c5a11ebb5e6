import type { CallEvent } from "@vocalhost/simulator";
import type { Ui } from "../ui.ts";

/** Shows a call while it runs: one changing line on a terminal, a line per event elsewhere or when asked. */
export function startProgress(options: ProgressOptions): Progress {
  const { ui, isVerbose } = options;
  const startMs = performance.now();
  let isCallerTalking = false;
  let isBotTalking = false;
  let keys = "";

  function draw(): void {
    const elapsed = ((performance.now() - startMs) / 1000).toFixed(1).padStart(5);
    const caller = isCallerTalking ? "talks" : "quiet";
    const bot = isBotTalking ? "talks" : "quiet";
    ui.progress(
      `${elapsed} s   caller ${caller}   bot ${bot}${keys ? `   keys ${keys}` : ""}   Ctrl-C hangs up`,
    );
  }

  const timer = ui.isTerminal ? setInterval(draw, REDRAW_MS) : undefined;

  return {
    onEvent(event) {
      if (event.type === "caller-speech-start") isCallerTalking = true;
      if (event.type === "caller-speech-end") isCallerTalking = false;
      if (event.type === "bot-speech-start") isBotTalking = true;
      if (event.type === "bot-speech-end") isBotTalking = false;
      if (event.type === "digit-pressed") keys += event.digit;
      if (ui.isTerminal && !isVerbose) return;
      const line = describeEvent(event, isVerbose);
      if (line !== undefined) ui.note(`${(event.atMs / 1000).toFixed(3).padStart(8)} s  ${line}`);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

export interface ProgressOptions {
  ui: Ui;
  isVerbose: boolean;
}

export interface Progress extends Disposable {
  onEvent: (event: CallEvent) => void;
}

const REDRAW_MS = 100;
const SHOWN_PAYLOAD = 16;

function describeEvent(event: CallEvent, isVerbose: boolean): string | undefined {
  switch (event.type) {
    case "call-connected":
      return "connected";
    case "caller-speech-start":
      return "caller talks";
    case "caller-speech-end":
      return "caller is quiet";
    case "bot-speech-start":
      return "bot talks";
    case "bot-speech-end":
      return "bot is quiet";
    case "audio-cleared":
      return `bot clears ${Math.round(event.droppedMs)} ms of audio`;
    case "digit-pressed":
      return `caller presses ${event.digit}`;
    case "violation-found":
      return isVerbose ? `violation: ${event.violation.code}: ${event.violation.detail}` : undefined;
    case "message-sent":
      return isVerbose ? `→ ${withoutAudio(event.text)}` : undefined;
    case "message-received":
      return isVerbose ? `← ${withoutAudio(event.text)}` : undefined;
    case "audio-queued":
    case "mark-received":
    case "mark-reached":
    case "call-ended":
      return undefined;
    default:
      return event satisfies never;
  }
}

function withoutAudio(message: string): string {
  return message.replace(/"payload":"([^"]*)"/, (_whole, payload: string) =>
    payload.length > SHOWN_PAYLOAD
      ? `"payload":"${payload.slice(0, SHOWN_PAYLOAD)}… ${payload.length} characters"`
      : `"payload":"${payload}"`,
  );
}
