// The talk button for other pages: one classic script, told by its own attributes whom to talk to.
//   <script async src="https://bots.example.com/embed.js" data-agent="my-bot" data-key="pk_…"></script>
import { Connection } from "../shared/connection/connection.ts";
import { createEmbedServer, type EmbedSettings } from "./embed-server.ts";
import { createTalkButton } from "./talk-button.ts";

const script = document.currentScript;
if (script instanceof HTMLScriptElement && script.src) put(script.dataset, new URL(script.src).origin);

function put({ agent, key, label, target }: DOMStringMap, origin: string): void {
  const settings: EmbedSettings = { origin, agent, key };
  const connection = new Connection(createEmbedServer(settings));
  const button = createTalkButton({ connection, label: label ?? "Talk to us", isFloating: !target });
  addEventListener("pagehide", () => void connection.end()); // ends the session at once when the visitor leaves
  const show = (): void => {
    const place = target ? document.querySelector(target) : document.body;
    if (place) place.append(button);
    // oxlint-disable-next-line no-console -- for the developer of the page
    else console.error(`vocalhost: nothing here matches data-target="${target}"`);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", show, { once: true });
  else show();
}
