import { createSavedText, createStore, type Store } from "../../shared/store.ts";
import { emptyTimeline, nextTimeline } from "../../shared/events/connect-timeline.ts";
import type { Attendee, ConnectionEvent } from "../../shared/events/connection-event.ts";
import { Connection } from "../../shared/connection/connection.ts";
import { emptyLog, nextLog, type EventLog } from "./event-log.ts";
import { emptyMetrics, nextMetrics } from "./bot-metrics.ts";
import { emptyLatency, nextLatency } from "../../shared/figures/response-latency.ts";
import { createKeypad } from "../../shared/phone/keypad.ts";
import { nextCallTranscript } from "../../shared/phone/call-transcript.ts";
import { runner, wasInvited } from "../runner/runner.ts";
import { emptyTranscript, nextTranscript, type Transcript } from "../../shared/transcript/transcript.ts";
import { nextSpeaking, noOneSpeaking } from "../../shared/voice/speaking.ts";
import { nowMs } from "../../shared/now.ts";
import { type LinkFigures, type LinkSample, toLinkFigures } from "../../shared/figures/link-figures.ts";

const READ_EVERY_MS = 1_000;

/** Figures of the link, once a second while a session is live; the last ones stay until the next. */
function watchFigures(connection: Connection): Store<LinkFigures | undefined> {
  const figures = createStore<LinkFigures | undefined>(undefined);
  let timer: ReturnType<typeof setInterval> | undefined;
  let before: LinkSample | undefined;
  const read = async () => {
    const now = await connection.session?.link.sample(nowMs()).catch(() => undefined);
    if (!now || timer === undefined) return;
    figures.set(toLinkFigures(before, now));
    before = now;
  };
  connection.phase.subscribe(() => {
    const { name } = connection.phase.get();
    if (name === "live" && timer === undefined) {
      before = undefined;
      timer = setInterval(() => void read(), READ_EVERY_MS);
      void read();
    } else if (name !== "live") {
      clearInterval(timer);
      timer = undefined;
      if (name === "connecting") figures.set(undefined);
    }
  });
  return figures;
}

/** The page's one connection, and the views of it. */
export const connection = new Connection(runner);
export const transcript = connection.fold<Transcript>(
  (words, event) => nextCallTranscript(nextTranscript(words, event), event),
  emptyTranscript,
);
export const lastTransport = connection.fold(nextTransport, "");
export const speaking = connection.fold(nextSpeaking, noOneSpeaking);
export const timeline = connection.fold(nextTimeline, emptyTimeline);
export const latency = connection.fold(nextLatency, emptyLatency);
export const metrics = connection.fold(nextMetrics, emptyMetrics);
export const linkFigures = watchFigures(connection);
export const log = connection.fold<EventLog>(nextLog, emptyLog);

/** The participants of this session's room, and how to invite others. */
export const attendees = connection.fold<Attendee[]>(nextAttendees, []);
export const sessionId = connection.fold(nextSessionId, "");

export const keypad = createKeypad(connection);

/** The user's choices, kept in this browser. */
export const chosenTransport = createSavedText("vocalhost-transport");
if (wasInvited) chosenTransport.set("room");
export const startBodyText = createSavedText("vocalhost-start-body");
export const singleKeys = createSavedText("vocalhost-single-keys", "on");

export const logOpen = createStore(false);
export const helpOpen = createStore(false);

function nextTransport(transport: string, event: ConnectionEvent): string {
  return event.type === "session-requested" ? event.transport : transport;
}

const NOBODY: Attendee[] = [];

function nextAttendees(before: Attendee[], event: ConnectionEvent): Attendee[] {
  switch (event.type) {
    case "attendees-changed":
      return event.attendees;
    case "session-requested":
    case "session-ended":
    case "session-failed":
      return NOBODY;
    default:
      return before;
  }
}

function nextSessionId(before: string, event: ConnectionEvent): string {
  if (event.type === "session-known") return event.sessionId;
  return event.type === "session-requested" ? "" : before;
}
