// The site's pages by what readers want to do. `from` is a file of the repository; pages without it are generated.

export interface SitePage {
  title: string;
  /** Address below the site's root, without an ending. */
  path: string;
  from?: string;
}

export interface SiteSection {
  title: string;
  about: string;
  pages: SitePage[];
}

const page = (title: string, from: string): SitePage => ({ title, path: addressOf(from), from });

export const SECTIONS: SiteSection[] = [
  {
    title: "Start",
    about: "Install it, talk to the parrot, write your first bot.",
    pages: [
      page("Get started", "docs/start.md"),
      page("Coming from Pipecat", "docs/from-pipecat.md"),
      page("Coming from LiveKit Agents", "docs/from-livekit.md"),
      page("Troubleshooting", "docs/troubleshooting.md"),
    ],
  },
  {
    title: "Build a bot",
    about: "Audio, turns, models, tools, tests and web pages.",
    pages: [
      page("Bots and transports", "docs/bots.md"),
      page("Conversations", "docs/conversation.md"),
      page("Model providers", "docs/providers.md"),
      page("Testing", "docs/testing.md"),
      page("On a web page", "docs/web.md"),
      page("Rooms", "docs/rooms.md"),
      page("Voice isolation", "docs/voice-isolation.md"),
      page("Development runner", "docs/runner.md"),
    ],
  },
  {
    title: "Phone",
    about: "Phone numbers, carriers, incoming and outgoing calls.",
    pages: [
      page("Carriers", "docs/carriers/README.md"),
      page("A number for a deployed agent", "docs/carriers/deployed.md"),
      page("Outgoing calls", "docs/carriers/outbound.md"),
      page("Twilio", "docs/carriers/twilio.md"),
      page("Telnyx", "docs/carriers/telnyx.md"),
      page("Plivo", "docs/carriers/plivo.md"),
      page("Exotel", "docs/carriers/exotel.md"),
    ],
  },
  {
    title: "Deploy",
    about: "One server, Docker Compose, Kubernetes or several machines.",
    pages: [
      page("The hosted service", "docs/hosted/README.md"),
      page("A server of your own", "docs/hosted/server.md"),
      page("Docker Compose", "docs/hosted/compose.md"),
      page("Kubernetes", "docs/hosted/kubernetes.md"),
      page("Several machines", "docs/hosted/many-machines.md"),
      page("Builds", "docs/hosted/builds.md"),
      page("Images", "docs/hosted/images.md"),
      page("WebRTC media and TURN", "docs/hosted/media.md"),
    ],
  },
  {
    title: "Operate",
    about: "Dashboard, keys, quotas, metrics, backup, Postgres.",
    pages: [
      page("Dashboard", "docs/hosted/dashboard.md"),
      page("Operating", "docs/hosted/operating.md"),
      page("Isolation and security", "docs/hosted/isolation.md"),
      page("Reliability", "docs/reliability.md"),
      page("States of sessions and instances", "docs/hosted/state-machines.md"),
    ],
  },
  {
    title: "Reference",
    about: "SDK, REST interface, command line and settings.",
    pages: [
      { title: "SDK", path: "reference/sdk/index" },
      page("Command line", "docs/cli.md"),
      { title: "All commands", path: "reference/commands" },
      page("REST interface", "docs/hosted/rest.md"),
      { title: "All REST operations", path: "reference/rest" },
      page("Settings", "docs/hosted/configuration.md"),
      page("Compatibility", "docs/compatibility.md"),
      page("Voice isolation figures", "docs/voice-isolation-figures.md"),
      page("Benchmarks", "bench/README.md"),
      page("Architecture", "ARCHITECTURE.md"),
      page("Contributing", "CONTRIBUTING.md"),
      page("Changelog", "CHANGELOG.md"),
    ],
  },
];

/** Returns where a page of the repository is on the site: `docs/hosted/README.md` is `hosted/index`. */
export function addressOf(file: string): string {
  return file
    .replace(/^bench\/README\.md$/, "benchmarks.md")
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index.md")
    .replace(/\.md$/, "")
    .replace(/^[A-Z]+$/, (name) => name.toLowerCase());
}
