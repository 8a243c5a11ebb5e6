import { transportNames } from "@vocalhost/protocol";
import { useEffect, useMemo } from "react";
import type { BotServer } from "../../shared/connection/bot-server.ts";
import { Connection } from "../../shared/connection/connection.ts";
import type { FilterAddress } from "../../shared/connection/filter-remote.ts";
import type { TransportChoice } from "../../shared/connection/open-session.ts";
import type { ConnectionEvent } from "../../shared/events/connection-event.ts";
import { emptyLatency, nextLatency, type ResponseLatency } from "../../shared/figures/response-latency.ts";
import { nextCallTranscript } from "../../shared/phone/call-transcript.ts";
import { createKeypad, type Keypad } from "../../shared/phone/keypad.ts";
import { createSavedText, type Store } from "../../shared/store.ts";
import { emptyTranscript, nextTranscript, type Transcript } from "../../shared/transcript/transcript.ts";
import { choicesFor } from "../../shared/transports/transports.ts";
import { nextSpeaking, noOneSpeaking, type Speaking } from "../../shared/voice/speaking.ts";

/** One line to one agent, and the views of it. */
export interface Talk {
  connection: Connection;
  transcript: Store<Transcript>;
  speaking: Store<Speaking>;
  latency: Store<ResponseLatency>;
  /** Transport of the session in progress, or of the last one. */
  lastTransport: Store<string>;
  keypad: Keypad;
}

/** The transports the service accepts for every agent. */
export const accepted: string[] = [...transportNames];
export const choices: TransportChoice[] = choicesFor(accepted);

/** The user's choices, kept in this browser. */
export const chosenTransport = createSavedText("vocalhost-transport");
export const startBodyText = createSavedText("vocalhost-start-body");

/** The agent to talk to. */
type TalkPlace = Parameters<typeof createHostedServer>[0];

/** Ends with the page that shows it. */
export function useTalk({ organization, agent, region }: TalkPlace): Talk {
  const talk = useMemo(() => createTalk({ organization, agent, region }), [organization, agent, region]);
  useEffect(() => {
    const leave = () => void talk.connection.end();
    addEventListener("pagehide", leave); // the service would notice a closed tab only seconds later
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [talk]);
  return talk;
}

function createTalk(place: TalkPlace): Talk {
  const connection = new Connection(createHostedServer(place));
  return {
    connection,
    transcript: connection.fold<Transcript>(
      (words, event) => nextCallTranscript(nextTranscript(words, event), event),
      emptyTranscript,
    ),
    speaking: connection.fold(nextSpeaking, noOneSpeaking),
    latency: connection.fold(nextLatency, emptyLatency),
    lastTransport: connection.fold(nextTransport, ""),
    keypad: createKeypad(connection),
  };
}

function nextTransport(transport: string, event: ConnectionEvent): string {
  return event.type === "session-requested" ? event.transport : transport;
}

const LOOK_MS = 4_000;

/** The service this page came from. The browser's cookie authorises the start. */
export function createHostedServer({
  organization,
  agent,
  region,
}: {
  organization: string;
  agent: string;
  /** The one its page is about, of an agent in several. */
  region?: string | undefined;
}): BotServer {
  const name = encodeURIComponent(agent);

  function ofSession(answer: unknown, path: string): FilterAddress | undefined {
    const { sessionId, sessionToken } = (answer ?? {}) as { sessionId?: unknown; sessionToken?: unknown };
    if (typeof sessionId !== "string" || typeof sessionToken !== "string") return undefined;
    return {
      url: `/v1/public/${name}/sessions/${encodeURIComponent(sessionId)}/${path}`,
      headers: { authorization: `Bearer ${sessionToken}` },
    };
  }

  return {
    startUrl: `/v1/organizations/${encodeURIComponent(organization)}/public/${name}/start`,
    startRequest: {
      enableDefaultIceServers: true,
      ...(region === undefined ? {} : { region, stayInRegion: true }),
    },
    callParameters: { _serviceHost: `${agent}.${organization}` }, // for agents that take calls without a token
    offerTo: (answer) => ofSession(answer, "api/offer"),
    filterAt: (answer) => ofSession(answer, "api/voice-filter"),
    isThere: () =>
      fetch("/healthz", { signal: AbortSignal.timeout(LOOK_MS), cache: "no-store" }).then(
        ({ ok }) => ok,
        () => false,
      ),
  };
}
