/** Something the user should know, in plain words, with what to do about it. */
export interface Problem {
  code: ProblemCode;
  title: string;
  advice: string;
  /** The message of the other side or the browser. */
  detail?: string;
}

const problems = {
  "microphone-denied": {
    title: "The microphone is blocked",
    advice:
      "Allow the microphone for this page in your browser (the icon beside the address), then try again.",
  },
  "microphone-missing": {
    title: "No microphone was found",
    advice: "Plug one in or switch it on, then try again.",
  },
  "microphone-busy": {
    title: "The microphone is in use",
    advice: "Another program holds it. Close that program, or choose another microphone.",
  },
  "microphone-insecure": {
    title: "This address cannot use the microphone",
    advice:
      "Browsers allow it only on https:// addresses and on localhost. Open the page as http://localhost, or put HTTPS in front of the runner.",
  },
  "microphone-silent": {
    title: "The browser is still waiting for permission",
    advice: "Answer the permission prompt near the address bar, then try again.",
  },
  "microphone-failed": {
    title: "The microphone could not be opened",
    advice: "Choose another microphone, or connect without one.",
  },
  "runner-unreachable": {
    title: "The runner is not responding",
    advice: "Start your bot again in the terminal. This page keeps looking for it.",
  },
  "page-outdated": {
    title: "This page is out of date",
    advice: "The runner has been updated since this page was opened. Reload it.",
  },
  "transport-unknown": {
    title: "No way to connect from this page",
    advice:
      "The runner accepts only transports this page cannot speak. Start it without -t, or with -t webrtc.",
  },
  "start-refused": {
    title: "The runner refused to start a session",
    advice: "The runner's terminal may say more.",
  },
  "start-timeout": {
    title: "Starting the session took too long",
    advice: "Check the runner's terminal, then try again.",
  },
  "connection-failed": {
    title: "No media connection could be made",
    advice:
      "A firewall or VPN may block UDP between this browser and the bot. Try WebSocket, or give the runner a TURN server with --ice-servers.",
  },
  "socket-failed": {
    title: "The WebSocket could not be opened",
    advice: "Check that the runner is still running and that no proxy blocks WebSockets.",
  },
  "call-refused": {
    title: "Your bot did not pick up",
    advice: "The runner refused the call. Its terminal says why.",
  },
  "call-timeout": {
    title: "Nobody picked up",
    advice: "The line did not open within ten seconds. Check the runner's terminal, then call again.",
  },
  "bot-silent": {
    title: "The bot never said it was ready",
    advice: "The connection was made, but the bot did not start in time. Check the terminal of the runner.",
  },
  "bot-left-early": {
    title: "The bot left before it was ready",
    advice: "It probably failed while starting. Check the runner's terminal.",
  },
  "bot-failed": {
    title: "The bot reported an error",
    advice: "The session has ended. Check the runner's terminal.",
  },
  "connection-lost": {
    title: "The connection was lost",
    advice: "Check your network and that the runner is still running, then try again.",
  },
} as const satisfies Record<string, { title: string; advice: string }>;

export type ProblemCode = keyof typeof problems;

export function problem(code: ProblemCode, detail?: string): Problem {
  return detail ? { code, ...problems[code], detail } : { code, ...problems[code] };
}

/** Whether connecting without a microphone would get around it. */
export function isAboutMicrophone(code: ProblemCode): boolean {
  return code.startsWith("microphone-");
}

/** Names of the errors `getUserMedia` rejects with, in the page's words. */
export function problemFromMicrophone(error: unknown): Problem {
  const name = error instanceof Error ? error.name : "";
  const detail = error instanceof Error ? error.message : undefined;
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return problem("microphone-denied");
    case "NotFoundError":
    case "OverconstrainedError":
      return problem("microphone-missing");
    case "NotReadableError":
    case "AbortError":
      return problem("microphone-busy", detail);
    default:
      return problem("microphone-failed", detail);
  }
}

/** A close code of the WebSocket; `undefined` when the bot simply ended the session. */
export function problemFromClose(code: number): Problem | undefined {
  switch (code) {
    case 1000:
      return undefined;
    case 1011:
      return problem("bot-failed");
    case 1001:
    case 1012:
      return problem("connection-lost", "The runner stopped or restarted.");
    case 1006: // the browser's word for "no close at all"
      return problem("connection-lost");
    default:
      return problem("connection-lost", `The socket was closed with code ${code}.`);
  }
}

/** The runner's `detail`: a sentence, or a list of fields that failed validation. */
export function refusalText(detail: unknown): string | undefined {
  if (typeof detail === "string") return detail || undefined;
  if (!Array.isArray(detail)) return undefined;
  const lines = detail.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null || !("msg" in item)) return [];
    const place = "loc" in item && Array.isArray(item.loc) ? item.loc.join(".") : "";
    return [place ? `${place}: ${String(item.msg)}` : String(item.msg)];
  });
  return lines.length > 0 ? lines.join("; ") : undefined;
}
