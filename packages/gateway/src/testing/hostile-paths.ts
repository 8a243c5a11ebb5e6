import { SESSION, SESSION_PATH } from "./start-rig.ts";

const RESERVED = [
  "bot",
  "ws",
  "ws/x",
  "ws-client",
  `ws-client/${SESSION}`,
  "readyz",
  "livez",
  "whatsapp",
  "instance",
  "instance/start",
  "instance/stop",
  "instance/events",
  "instances",
  "start",
  "status",
  "client/",
  "files/x",
  "sessions/other/x",
  "",
];

const SPELLINGS: ((path: string) => string)[] = [
  (path) => `/${path}`,
  (path) => `/${path}?x=1`,
  (path) => `/${path};x=1`,
  (path) => `/${percent(path)}`,
  (path) => `/${path.toUpperCase()}`,
  (path) => `//${path}`,
  (path) => `/./${path}`,
  (path) => `/x/../${path}`,
  (path) => `/x/%2e%2e/${path}`,
  (path) => `/%2E./${path}`,
  (path) => `/x%2f..%2f${path}`,
  (path) => `/x%5c..%5c${path}`,
  (path) => `/x\\..\\${path}`,
  (path) => `/x/%252e%252e/${path}`,
  (path) => `/x%00/${path}`,
  (path) => `/x/..;/${path}`,
];

/** Returns paths that clients must not reach on a session's server, and paths that lead outside the session. */
export function hostilePaths(canaryAddress: string): string[] {
  const inside = RESERVED.flatMap((path) => SPELLINGS.map((spell) => SESSION_PATH + spell(path)));
  const outside = [
    `http://${canaryAddress}/`,
    `http://${canaryAddress}/ws/generic/a.b`,
    `//${canaryAddress}/`,
    `/\\${canaryAddress}/`,
    `/v1/public/parrot/sessions/${SESSION}/../../../../${canaryAddress}`,
    `/v1/public/parrot/sessions/..%2f..%2f/x`,
    `/v1/public/parrot/sessions/${SESSION}%2f..%2fx/y`,
    `/v1/public/parrot/sessions/@${canaryAddress}/x`,
    `/v1/public/parrot/sessions/${SESSION}@${canaryAddress}/x`,
    `/v1/public/..%2fparrot/sessions/${SESSION}/x`,
    `/v1/public/parrot%00/sessions/${SESSION}/x`,
    `/v1/public/parrot/sessions/${SESSION}/x%`,
    `/v1/public/parrot/sessions/${SESSION}/%ff%fe`,
    `/v1/public/parrot/sessions/${SESSION}/%c0%ae%c0%ae/x`,
    `/v1/public/parrot/sessions/${SESSION}/x%0d%0ax-a:b`,
    `/v1/public/parrot/sessions/${SESSION}/x#/bot`,
    `/v1/public/parrot/sessions/${SESSION}/é`,
    "*",
    "bot",
    "@127.0.0.1/",
  ];
  return [...inside, ...outside];
}

function percent(text: string): string {
  return [...text].map((character) => (character === "/" ? "/" : hex(character))).join("");
}

function hex(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
