import type { Connection } from "../shared/connection/connection.ts";
import type { TransportChoice } from "../shared/connection/open-session.ts";
import { Session } from "../shared/connection/session.ts";
import { isOpen } from "../shared/events/phase.ts";
import { createWebrtcLink } from "../shared/transports/webrtc-link.ts";
import { loudnessOf, toLevel } from "../shared/voice/loudness.ts";
import { embedWords } from "./embed-words.ts";

interface TalkButtonOptions {
  connection: Connection;
  /** Its label before a conversation. */
  label: string;
  /** In the corner of the window, or where it is put. */
  isFloating: boolean;
}

const LEVEL_MS = 60;

/** A button that starts and ends a conversation, closed off from the styles of its page. */
export function createTalkButton({ connection, label, isFloating }: TalkButtonOptions): HTMLElement {
  const host = document.createElement("vocalhost-talk");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet(); // a page's content policy forbids elements with styles, and allows this
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const frame = element("div", isFloating ? "frame floating" : "frame");
  const words = element("p", "words");
  words.setAttribute("role", "status");
  const row = element("div", "row");
  const mute = element("button", "mute");
  const talk = element("button", "talk");
  row.append(mute, talk);
  frame.append(words, row);
  root.append(frame);

  talk.addEventListener("click", () => {
    if (isOpen(connection.phase.get())) void connection.end();
    else void connection.connect({ ...EVERYTHING_ELSE, transport: webrtc, useMicrophone: true });
  });
  mute.addEventListener("click", () => connection.setMuted(!connection.muted.get()));

  function show(): void {
    const phase = connection.phase.get();
    const isMuted = connection.muted.get();
    const said = connection.playbackBlocked.get() ? "Click to hear the answer" : embedWords(phase);
    frame.dataset["phase"] = phase.name;
    if (words.textContent !== said) words.textContent = said;
    words.hidden = said === "";
    talk.textContent = phase.name === "live" ? "Hang up" : isOpen(phase) ? "Cancel" : label;
    talk.disabled = phase.name === "ending";
    mute.hidden = phase.name !== "live";
    mute.textContent = isMuted ? "Unmute" : "Mute";
    mute.ariaPressed = String(isMuted);
  }
  words.addEventListener("click", () => connection.allowPlayback());
  for (const store of [connection.phase, connection.muted, connection.playbackBlocked]) store.subscribe(show);
  connection.phase.subscribe(() => tellDevelopers(connection));
  connection.phase.subscribe(() => connection.phase.get().name === "live" && pulse(connection, talk));
  show();
  return host;
}

const EVERYTHING_ELSE = {
  microphoneId: undefined,
  speakerId: undefined,
  body: undefined,
  call: undefined,
};

const webrtc: TransportChoice = {
  name: "webrtc",
  label: "WebRTC",
  hint: "",
  load: async () => (options) =>
    new Session({ ...options, link: createWebrtcLink({ ...options, onAttendees: () => undefined }) }),
};

/** Shows on the button which side is heard during a session. */
function pulse(connection: Connection, button: HTMLElement): void {
  const timer = setInterval(() => {
    const media = connection.session?.link.media;
    const loudest = Math.max(loudnessOf(media?.userMeter), loudnessOf(media?.botMeter));
    button.style.setProperty("--level", media ? toLevel(loudest).toFixed(2) : "0");
    if (!media) clearInterval(timer);
  }, LEVEL_MS);
}

function tellDevelopers(connection: Connection): void {
  const phase = connection.phase.get();
  if (phase.name !== "failed") return;
  const { title, detail } = phase.problem;
  // oxlint-disable-next-line no-console -- visitors are told less, and there is nowhere else to say it
  console.error(`vocalhost: ${title}${detail ? `: ${detail}` : ""}`);
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = className;
  made.setAttribute("part", className.split(" ")[0] ?? "");
  if (made instanceof HTMLButtonElement) made.type = "button"; // it may stand inside a form
  return made;
}

/** Colours are properties, so that a page can choose its own: `vocalhost-talk { --vocalhost-accent: #b00 }`. */
const STYLE = `
:host { all: initial; display: inline-block; }
.frame { display: inline-flex; flex-direction: column; align-items: flex-end; gap: 8px; font: 500 15px/1.3 system-ui, sans-serif; }
.floating { position: fixed; right: 20px; bottom: 20px; z-index: 2147483000; }
.row { display: flex; gap: 8px; }
[hidden] { display: none !important; }
.words { margin: 0; padding: 8px 12px; max-width: 260px; border-radius: 10px; color: #17211e; background: #fff;
  box-shadow: 0 2px 10px rgb(0 0 0 / 18%); font-weight: 400; font-size: 14px; }
button { font: inherit; padding: 12px 20px; border: 0; border-radius: 999px; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--vocalhost-accent, #0a7463); outline-offset: 2px; }
button:disabled { opacity: .6; cursor: default; }
.talk { color: var(--vocalhost-on-accent, #fff); background: var(--vocalhost-accent, #0a7463);
  box-shadow: 0 2px 10px rgb(0 0 0 / 22%), 0 0 0 calc(var(--level, 0) * 12px) color-mix(in srgb, var(--vocalhost-accent, #0a7463) 35%, transparent); }
[data-phase="live"] .talk { background: #a32b1f; }
.mute { color: #17211e; background: #fff; box-shadow: 0 2px 10px rgb(0 0 0 / 18%); }
`;
