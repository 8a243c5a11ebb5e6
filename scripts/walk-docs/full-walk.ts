import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { layProject, runShell, startService, walkPages, writeHello, type WalkedPage } from "./walk.ts";
import { makeWorld, type World } from "./world.ts";

export interface FullWalkOptions {
  /** For everything; may be removed afterwards. */
  folder: string;
  /** Major version that the machine has. */
  node: number;
  /** Empty ones, one for each place. */
  databaseUrls: (string | undefined)[];
  walked?(place: string, page: WalkedPage): void;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const INSTALL_MAX_MS = 20 * 60_000;

/**
 * In a fresh clone of what is committed, then outside of it in a project made from the one archive, with nothing but npm
 * and a Node of the wanted version.
 */
export async function walkEverything(options: FullWalkOptions): Promise<WalkedPage[]> {
  const { folder, node, walked } = options;
  const clone = join(folder, "clone");
  const here = join(folder, "node");
  mkdirSync(here, { recursive: true });
  const platform = `node-${process.platform}-${process.arch}`;
  const bin = join(here, "node_modules", platform, "bin");
  const npm = `npm install --prefix '${here}' --no-save --ignore-scripts ${platform}@${node}`;
  const readsTypes = node >= 24;
  const inside = makeWorld({
    folder: join(folder, "inside"),
    clone,
    programs: [bin, join(clone, "node_modules/.bin")],
    ...(await freePorts()),
    environment: await npmSettings(),
    databaseUrl: options.databaseUrls[0],
  });
  await prepare(`${npm} && git clone --quiet '${REPOSITORY}' '${clone}'`, { world: inside, folder: here });
  await prepare("node --version && npm ci", { world: inside, folder: clone });
  const done: WalkedPage[] = [];
  {
    await using _service = await startService(inside, "npm start", clone);
    const pages = await walkPages(inside, {
      isFull: true,
      readsTypes,
      projectFor: (page) => layProject(join(clone, "walk", page.replaceAll("/", "-")), { clone }),
      walked: (page) => walked?.(`clone, Node ${node}`, page),
    });
    done.push(...pages);
  }
  const project = join(inside.home, "my-bot"); // the README has made it
  const outside = makeWorld({
    folder: join(folder, "outside"),
    clone,
    programs: [bin, join(project, "node_modules/.bin")],
    ...(await freePorts()),
    environment: await npmSettings(),
    databaseUrl: options.databaseUrls[1],
  });
  await using _service = await startService(outside, "npx vocalhost up", project);
  await prepare("npm test && npx vocalhost deploy parrot --yes && npx vocalhost deploy --yes", {
    world: outside,
    folder: project,
  });
  writeHello(project);
  const pages = await walkPages(outside, {
    isFull: true,
    readsTypes,
    projectFor: () => project,
    isWanted: (page) => page.startsWith("docs/"),
    walked: (page) => walked?.(`outside, Node ${node}`, page),
  });
  return [...done, ...pages];
}

async function prepare(command: string, { world, folder }: { world: World; folder: string }): Promise<void> {
  const options = { folder, environment: world.environment, maxMs: INSTALL_MAX_MS };
  const { code, output } = await runShell(["bash", "-c", command], options);
  if (code !== 0) throw new Error(`${command}\n${output}`);
}

/** How this machine gets at packages, which a new home would not know. */
async function npmSettings(): Promise<Record<string, string>> {
  const environment = process.env as Record<string, string>;
  const options = { folder: REPOSITORY, environment, maxMs: INSTALL_MAX_MS };
  const { output } = await runShell(["npm", "config", "list", "--json"], options);
  const config = JSON.parse(output) as Record<string, string | null>;
  const names = ["registry", "cache", "cafile", "proxy", "https-proxy", "noproxy"];
  const set = names.flatMap((name) =>
    config[name] ? [[`npm_config_${name.replaceAll("-", "_")}`, config[name]]] : [],
  );
  return Object.fromEntries(set) as Record<string, string>;
}

async function freePorts(): Promise<{ servicePort: number; runnerPort: number }> {
  const servers = [createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return { servicePort: ports[0] ?? 0, runnerPort: ports[1] ?? 0 };
}
