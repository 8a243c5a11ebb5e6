import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a walk takes place: a home, a clone, and where machines usually keep things, all in one folder. */
export interface World {
  folder: string;
  home: string;
  /** The repository, or a clone of it. */
  clone: string;
  /** Of the service that `npm start` runs. */
  dataFolder: string;
  servicePort: number;
  runnerPort: number;
  environment: Record<string, string>;
  /** Lets applications start sessions; known once the service runs. */
  publicKey: string;
  /** An empty database, where there is a server of them. */
  databaseUrl: string | undefined;
}

export interface WorldOptions {
  folder: string;
  clone: string;
  /** Folders with programs, before those of the machine. */
  programs: string[];
  servicePort: number;
  runnerPort: number;
  environment?: Record<string, string>;
  databaseUrl?: string | undefined;
}

export function makeWorld(options: WorldOptions): World {
  const { folder, clone, servicePort, runnerPort } = options;
  const home = join(folder, "home");
  const dataFolder = join(folder, "data");
  mkdirSync(join(home, ".config/fish/completions"), { recursive: true });
  // The environment of an ordinary user, without variables of this process.
  const inherited = [
    "PATH",
    "LANG",
    "TERM",
    "USER",
    "NODE_COMPILE_CACHE",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
  ];
  const kept = inherited.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const environment = {
    ...(Object.fromEntries(kept) as Record<string, string>),
    HOME: home,
    PATH: [...options.programs, process.env["PATH"] ?? ""].join(delimiter),
    ...options.environment,
  };
  writeFileSync(
    join(home, ".npmrc"),
    "prefer-offline=true\naudit=false\nfund=false\nupdate-notifier=false\n",
  );
  const { databaseUrl } = options;
  return {
    folder,
    home,
    clone,
    dataFolder,
    servicePort,
    runnerPort,
    environment,
    publicKey: "",
    databaseUrl,
  };
}

/** What pages write, and what stands for it here. `root` is the machine's, for one page. */
export function wordsOf(world: World, root: string): [string, string][] {
  return [
    ["localhost:7870", `localhost:${world.servicePort}`],
    ["localhost:7860", `localhost:${world.runnerPort}`],
    ["localhost:8080", `localhost:${world.runnerPort}`],
    ["wss://bots.example.com", `ws://localhost:${world.servicePort}`],
    ["pk_…", world.publicKey],
    [" .vocalhost/", ` ${world.dataFolder}/`],
    ["/var/lib/vocalhost", join(root, "var/lib/vocalhost")],
    ["/backups/", `${join(root, "backups")}/`],
    ["API_SECRET=…", `API_SECRET=${"s".repeat(40)}`],
  ];
}
