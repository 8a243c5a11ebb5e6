// Turns an uploaded archive into a folder an instance can run in. It is a separate process, because the upload is
// untrusted.
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { readManifest } from "./bot-manifest.ts";
import { BuildProblem } from "./build-problem.ts";
import { type BuilderMessage, BuilderTask } from "./builder-messages.ts";
import { checkBotFile } from "./check-bot-file.ts";
import { findFacts } from "./find-facts.ts";
import { checkPackages, installPackages } from "./install-packages.ts";
import { unpackArchive } from "./unpack-archive.ts";

const LIFE_FD = 3;

endWithParent();
try {
  await build(BuilderTask.parse(JSON.parse(await text(process.stdin))));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  tell({
    type: "failed",
    message: error instanceof BuildProblem ? message : `The builder failed: ${message}`,
  });
}

/**
 * A killed controller cannot end this process. The next controller builds again, and npm must not run twice at once.
 */
function endWithParent(): void {
  const life = new Socket({ fd: LIFE_FD });
  life.on("error", () => undefined);
  life.on("close", () => process.kill(-process.pid, "SIGKILL"));
  life.resume().unref();
}

async function build(task: BuilderTask): Promise<void> {
  const { archive, folder, dockerfilePath, sdkFolder, allowsForeignPackages, makes } = task;
  const say = (line: string): void => tell({ type: "line", text: line });
  const { entries, bytes } = await unpackArchive(archive, folder);
  say(`Unpacked ${entries} entries, ${bytes} bytes`);
  const { manifest, text: manifestText } = await readManifest(folder);
  const facts = await findFacts(folder, { manifest, dockerfilePath });
  say(`Found the bot in ${facts.botFile}; base ${facts.baseVersion}`);
  if (facts.filterPackages.length > 0) say(`Voice filter packages: ${facts.filterPackages.join(", ")}`);
  const hasDockerfile = existsSync(join(folder, dockerfilePath));
  const packages = { folder, manifest, manifestText, sdkFolder, allowsForeignPackages, say };
  if (makes === "image" && hasDockerfile) await checkPackages(packages);
  else await installPackages({ ...packages, sdk: makes === "image" ? "of the base" : "linked" });
  await checkBotFile(folder, facts.botFile);
  say(`${facts.botFile} can be loaded`);
  tell({ type: "done", facts, bytes: await sizeOf(folder), hasDockerfile });
}

function tell(message: BuilderMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}
