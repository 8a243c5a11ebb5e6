/** Folders that both pages share: how a page talks to a bot, and how it shows that. */
const SHARED: Record<string, string[]> = {
  "shared/events": [],
  "shared/media": [],
  "shared/start-body": [],
  "shared/figures": ["shared/events"],
  "shared/transcript": ["shared/events"],
  "shared/voice": ["shared/events"],
  "shared/connection": ["shared/events", "shared/figures", "shared/media", "shared/voice"],
  "shared/phone": [
    ...["shared/connection", "shared/events", "shared/figures", "shared/media"],
    ...["shared/transcript", "shared/voice"],
  ],
  "shared/transports": [
    "shared/connection",
    "shared/events",
    "shared/figures",
    "shared/media",
    "shared/phone",
  ],
  "shared/visuals": ["shared/connection", "shared/events", "shared/figures", "shared/voice"],
  "shared/devices": ["shared/connection", "shared/media", "shared/visuals"],
  "shared/conversation": ["shared/events", "shared/phone", "shared/transcript"],
};
const ALL_SHARED = Object.keys(SHARED);

/**
 * Inside the web package: which folder may import which. Neither page knows the other, nor the button for pages of others.
 * Files beside the folders of `shared` are words they all share.
 */
export const WEB_FOLDERS: Record<string, string[]> = {
  ...SHARED,
  client: ["client/page"],
  "client/public": [],
  "client/page": [
    ...["client/connection", "client/events", "client/figures", "client/runner", "client/state"],
    ...ALL_SHARED,
  ],
  "client/connection": ["client/runner", "client/state", ...ALL_SHARED],
  "client/events": ["client/state"],
  "client/figures": ["client/state", "shared/events", "shared/figures", "shared/phone"],
  "client/state": ["client/runner", ...ALL_SHARED],
  "client/runner": ["shared/connection"],
  embed: ALL_SHARED,
  dashboard: ["dashboard/app", "dashboard/data"],
  "dashboard/app": [
    ...["dashboard/agents", "dashboard/data", "dashboard/deployments", "dashboard/logs"],
    ...["dashboard/sessions", "dashboard/settings", "dashboard/sign-in", "dashboard/talk"],
    ...["dashboard/ui", "dashboard/usage"],
  ],
  "dashboard/talk": ["dashboard/agents", "dashboard/data", "dashboard/ui", ...ALL_SHARED],
  "dashboard/deployments": ["dashboard/agents", "dashboard/data", "dashboard/ui"],
  "dashboard/sessions": ["dashboard/agents", "dashboard/data", "dashboard/logs", "dashboard/ui"],
  "dashboard/logs": ["dashboard/agents", "dashboard/data", "dashboard/ui"],
  "dashboard/agents": ["dashboard/data", "dashboard/ui"],
  "dashboard/settings": ["dashboard/data", "dashboard/ui"],
  "dashboard/sign-in": ["dashboard/data", "dashboard/ui"],
  "dashboard/usage": ["dashboard/data", "dashboard/ui"],
  "dashboard/ui": ["dashboard/data"],
  "dashboard/data": [],
};

/** `client/page` of `client/page/app.tsx`, `client` of `client/main.tsx`; none for what all may import. */
export function webFolderOf(place: string): string {
  const folders = place.split("/").slice(0, -1).slice(0, 2).join("/");
  return folders === "shared" ? "" : folders;
}
