import type { Block } from "./blocks.ts";
import { wordsOf, type World } from "./world.ts";

/** Turns a page's commands into a script for a shell without a terminal. */
export interface PageScript {
  text: string;
  /** How many commands of the page are in it. */
  commands: number;
}

export interface ScriptOptions {
  world: World;
  /** Stands for the machine's own folders in this page. */
  root: string;
  /** Whether packages are installed and packed, which takes minutes. */
  isFull: boolean;
  /** Whether `node` reads TypeScript. */
  readsTypes: boolean;
}

/** Goes on until it is told to end: what it says when it is there, and which port it is given. */
const SERVERS: { starts: RegExp; says: string; port?: "runner" | "any" }[] = [
  { starts: /^(?:npx )?vocalhost up\b/, says: "Vocalhost is running", port: "any" },
  { starts: /^npm run dev\b/, says: "Talk to it", port: "runner" },
  { starts: /^(?:npx )?vocalhost dev\b/, says: "localhost:", port: "runner" },
  { starts: /^(?:\w+=\S+ )*npx vocalhost-rooms/, says: "ws://" },
  { starts: /^(?:\w+=\S+ )*node answer\.ts/, says: "listening on" },
];
const TAKES_MINUTES = /^(?:npm ci|npm run pack|npx \.\/create-vocalhost|npm install)\b/;
/** Nobody is there to answer, and somebody would have said yes. */
const ASKS =
  /^(?:npx )?vocalhost (?:deploy|secrets (?:set|unset|delete)|agent (?:start|stop|delete|rollback))\b/;
const ENDLESS = /^curl -N\b|^(?:npx )?vocalhost logs\b.* -f\b/;
const CALLS = /^(?:npx )?vocalhost call\b/;

export function toScript(blocks: Block[], options: ScriptOptions): PageScript {
  const lines: string[] = [];
  let commands = 0;
  for (const block of blocks) {
    const { file, language, marks, page } = block;
    const text = known(block.text, options);
    if (file !== undefined && !file.startsWith("/")) lines.push(written(file, text));
    else if (marks["carrier"] !== undefined) lines.push(...answered(marks["carrier"], text, options));
    else if (language === "sh" && marks["not-run"] === undefined && file === undefined)
      for (const command of commandsIn(text)) {
        const turned = turn(command, options);
        if (turned === undefined) continue;
        commands += 1;
        lines.push(`at '${page}:${block.line}' ${quoted(command)}`, turned);
      }
  }
  return { text: lines.join("\n"), commands };
}

function written(file: string, text: string): string {
  return `cat > '${file}' <<'WALK_EOF'\n${text}\nWALK_EOF`;
}

/** What a carrier is to be answered with leads to the agent: the simulated one is answered so, and calls. */
function answered(carrier: string, text: string, { world: { runnerPort } }: ScriptOptions): string[] {
  const webhook = `http://localhost:${runnerPort}/${carrier}.xml`;
  return [
    `at '${carrier}.xml' 'a call that is answered with it'`,
    written(`${carrier}.xml`, text),
    `serve listens node "$WALK_TOOLS/answer-files.mjs" ${runnerPort}`,
    `vocalhost call --carrier ${carrier} --webhook ${webhook} --hang-up-after-silence 4s --expect-audio`,
  ];
}

/** Whole commands: a line, and those that belong to it. */
function commandsIn(text: string): string[] {
  const commands: string[] = [];
  let open = "";
  for (const line of text.split("\n")) {
    if (open === "" && /^\s*(?:#.*)?$/.test(line)) continue;
    open += open === "" ? line : `\n${line}`;
    if (line.endsWith("\\") || (open.match(/(?<!\\)'/g)?.length ?? 0) % 2 !== 0) continue;
    commands.push(open);
    open = "";
  }
  return open === "" ? commands : [...commands, open];
}

function turn(command: string, options: ScriptOptions): string | undefined {
  const { world, root, isFull } = options;
  const plain = command.replace(/\s+# .*$/, "");
  const steps = plain.split(" && ");
  if (steps.length > 1) {
    const turned = steps.map((step) => turn(step, options)).filter((step) => step !== undefined);
    return turned.length === 0 ? undefined : turned.join("\n");
  }
  if (/^VOCALHOST_\w+=\S*$/.test(plain)) return undefined; // a line of a settings file
  if (TAKES_MINUTES.test(plain)) return isFull ? installed(plain, world) : undefined;
  if (/--settings vocalhost\.env/.test(plain) && world.databaseUrl === undefined) return undefined;
  if (/\bnode answer\.ts/.test(plain) && !options.readsTypes) return undefined;
  if (/--webhook http:\/\/localhost:\d+\/(?:twilio|plivo)$/.test(plain) && !options.readsTypes)
    return undefined;
  // Runs since the walk began, by this very command.
  if (/^npm start\b/.test(plain)) return `curl http://localhost:${world.servicePort}/readyz`;
  const server = SERVERS.find(({ starts }) => starts.test(plain));
  if (server) {
    const ports = { runner: world.runnerPort, any: 0 };
    const port = `PORT=${world.runnerPort} ${server.port === undefined ? "" : `VOCALHOST_PORT=${ports[server.port]} `}`;
    const address = `SERVICE=http://localhost:${world.servicePort}/v1 `;
    return inClone(`serve '${server.says}' env ${port}${address}${plain}`, world);
  }
  if (ENDLESS.test(plain)) return `glance ${plain}`;
  if (/^vocalhost restore\b/.test(plain)) return `rm -rf '${root}/var/lib/vocalhost'\n${plain}`; // the loss
  if (/^vocalhost store\b/.test(plain)) return `hush\n${plain}`; // with the service stopped
  if (/^vocalhost doctor\b/.test(plain)) return `advised ${plain}`;
  if (ASKS.test(plain) && !/ --(?:yes|dry-run)\b/.test(plain)) return `${plain} --yes`;
  if (CALLS.test(plain)) return called(plain, options);
  return command;
}

function installed(command: string, world: World): string | undefined {
  if (command === "npm ci") return undefined; // the walk began with it
  if (!command.startsWith("npx ./create-vocalhost")) return inClone(command, world);
  return `cp '${world.clone}'/create-vocalhost-*.tgz .\n${command} --yes`; // as on any other machine
}

/** To the runner of this walk, where none is named; no longer than it takes to prove. */
function called(command: string, { world: { runnerPort }, isFull }: ScriptOptions): string {
  const isNamed = / --(?:to|webhook) | call \w/.test(command);
  const short = isFull ? command : command.replace(/ --hang-up-after \w+/, "");
  return [
    short,
    ...(isNamed ? [] : [`--to ws://localhost:${runnerPort}/ws`]),
    ...(/ --hang-up/.test(short) ? [] : ["--hang-up-after 2s"]),
  ].join(" ");
}

/** `npm` commands of the repository are given in it, wherever one is. */
function inClone(command: string, { clone }: World): string {
  const isOfClone = /\bnpm (?:ci|run (?:pack|dev))\b/.test(command);
  return isOfClone ? `pushd '${clone}' > /dev/null; ${command}; popd > /dev/null` : command;
}

function known(text: string, { world, root }: ScriptOptions): string {
  return wordsOf(world, root).reduce((said, [word, stands]) => said.replaceAll(word, stands), text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
