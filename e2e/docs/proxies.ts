import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../testing/wait.ts";
import { readBlocks } from "../../scripts/walk-docs/blocks.ts";

/** A proxy with TLS, as the page of servers sets it up, in front of a service on this machine. */
export interface Proxy extends AsyncDisposable {
  /** Who has to be trusted to trust it. */
  certificate: string;
}

export interface ProxyOptions {
  repository: string;
  folder: string;
  port: number;
  servicePort: number;
}

const PAGE = "docs/hosted/server.md";
const START_MS = 30_000;

export const proxies = { caddy: startCaddy, nginx: startNginx };

async function startCaddy({ folder, port, ...options }: ProxyOptions): Promise<Proxy> {
  const file = join(folder, "Caddyfile");
  const site = settings("caddyfile", { port, ...options }).replace(
    "bots.example.com",
    `https://localhost:${port}`,
  );
  const own = `admin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${folder}/store`;
  writeFileSync(file, `{\n\t${own}\n}\n${site}`);
  const certificate = join(folder, "store/pki/authorities/local/root.crt");
  const words = ["run", "--adapter", "caddyfile", "--config", file];
  return start("caddy", words, { folder, certificate, port });
}

async function startNginx({ folder, port, ...options }: ProxyOptions): Promise<Proxy> {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject];
  spawnSync("openssl", [...words, "-keyout", key, "-out", certificate]);
  const site = settings("nginx", { port, ...options })
    .replace("listen 443 ssl", `listen ${port} ssl`)
    .replace("server_name bots.example.com", "server_name localhost")
    .replaceAll(/(?<=ssl_certificate )\S+(?=;)/g, certificate)
    .replaceAll(/(?<=ssl_certificate_key )\S+(?=;)/g, key);
  const file = join(folder, "nginx.conf");
  const own = `daemon off;\npid ${folder}/pid;\nerror_log ${folder}/error.log;\nevents {}`;
  writeFileSync(file, `${own}\nhttp {\naccess_log off;\n${site}\n}\n`);
  return start("nginx", ["-c", file], { folder, certificate, port });
}

/** The page's own, for this service instead of that of the page. */
function settings(language: string, { repository, servicePort }: Omit<ProxyOptions, "folder">): string {
  const block = readBlocks(repository, PAGE).find((each) => each.language === language);
  if (!block?.text.includes("127.0.0.1:7870")) throw new Error(`${PAGE} has no ${language} for the gateway`);
  return block.text.replace("127.0.0.1:7870", `localhost:${servicePort}`);
}

async function start(
  program: string,
  words: string[],
  { folder, certificate, port }: { folder: string; certificate: string; port: number },
): Promise<Proxy> {
  mkdirSync(folder, { recursive: true });
  const child = spawn(program, words, {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder },
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  try {
    await until(
      () => existsSync(certificate) && answers(port, certificate),
      START_MS,
      `answer of ${program}`,
    );
  } catch (error) {
    await end();
    const log = join(folder, "error.log");
    throw new Error(`${output}${existsSync(log) ? readFileSync(log, "utf8") : ""}`, { cause: error });
  }
  return { certificate, [Symbol.asyncDispose]: end };
}

function answers(port: number, certificate: string): boolean {
  const words = ["--silent", "--fail", "--max-time", "5", "--cacert", certificate];
  return spawnSync("curl", [...words, `https://localhost:${port}/readyz`]).status === 0;
}
