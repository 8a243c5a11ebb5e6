import { ImageBuildError } from "../../image-builder.ts";
import { parseDockerfile, type Instruction } from "./dockerfile.ts";

export interface DockerfilePlan {
  /** Images that it is made from, each once, as it calls them. */
  images: string[];
  /** The same file for the engine, which finds every image at once and asks no registry. */
  write(options: WriteOptions): string;
}

export interface WriteOptions {
  /** Returns the name of an image in the engine. */
  nameOf(image: string): string;
  /** Labels of every layer, which tell what service and organisation it belongs to. */
  labels: Record<string, string>;
  /** Arguments that commands find in their environment, and that are not kept in the image. */
  args: readonly string[];
}

/** Instructions that engines would run outside of any container, or that the service could not check. */
const REFUSED: Record<string, string> = {
  ONBUILD: "ONBUILD is for images that others build on",
  VOLUME: "VOLUME is not supported: a bot's files are read-only, and it has /tmp",
};
const COPY_FLAGS = /^--(?:from|chown|chmod)=/;
const SCRATCH = "scratch";

/** Finds out what a Dockerfile needs, and refuses instructions that would access anything outside the build. */
export function planDockerfile(text: string): DockerfilePlan {
  const instructions = parseDockerfile(text);
  const variables = new Map<string, string>();
  const stages = new Set<string>();
  const parts: Part[] = [];
  const images = new Set<string>();
  let saysLabels = false;
  // Repeated at the end of a stage, because the last label counts: without these labels no service would remove it.
  const endStage = (): void => {
    if (saysLabels) parts.push({ kind: "labels" });
    saysLabels = false;
  };
  for (const instruction of instructions) {
    const { keyword, rest } = instruction;
    if (keyword === "LABEL") saysLabels = true;
    if (keyword === "FROM") {
      endStage();
      const from = readFrom(instruction, variables);
      const isImage = !stages.has(from.image.toLowerCase()) && from.image !== SCRATCH;
      if (isImage) images.add(from.image);
      if (from.stage !== undefined) stages.add(from.stage.toLowerCase());
      parts.push({ kind: "from", ...from, isImage });
      continue;
    }
    if (stages.size === 0 && parts.every(({ kind }) => kind !== "from")) {
      if (keyword !== "ARG") throw problem(instruction, "the first instruction must be FROM");
      readGlobal(rest, variables);
    }
    check(instruction);
    parts.push(copyFrom(instruction, { stages, images }) ?? { kind: "text", text: instruction.text });
  }
  endStage();
  if (!parts.some(({ kind }) => kind === "from")) throw new ImageBuildError("The Dockerfile has no FROM");
  return { images: [...images], write: (options) => `${parts.map(toText(options)).join("\n")}\n` };
}

type Part =
  | { kind: "text"; text: string }
  | { kind: "labels" }
  | { kind: "from"; image: string; isImage: boolean; stage: string | undefined }
  | { kind: "copy"; image: string; before: string; after: string };

function toText({ nameOf, labels, args }: WriteOptions): (part: Part) => string {
  const said = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const label = `LABEL ${said.join(" ")}`;
  return (part) => {
    switch (part.kind) {
      case "text":
        return part.text;
      case "labels":
        return label;
      case "copy":
        return `${part.before}--from=${nameOf(part.image)}${part.after}`;
      case "from": {
        const name = part.isImage ? nameOf(part.image) : part.image;
        const from = `FROM ${name}${part.stage === undefined ? "" : ` AS ${part.stage}`}`;
        return [from, label, ...args.map((arg) => `ARG ${arg}`)].join("\n");
      }
      default:
        return part satisfies never;
    }
  };
}

function readFrom(
  instruction: Instruction,
  variables: ReadonlyMap<string, string>,
): { image: string; stage: string | undefined } {
  const [, written = "", stage] = /^(\S+)(?:\s+AS\s+([\w.-]+))?$/i.exec(instruction.rest) ?? [];
  if (written === "") throw problem(instruction, "write FROM image, or FROM image AS name");
  const image = written.replace(
    /\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g,
    (_all, bare?: string, braced?: string, preset?: string) =>
      variables.get(bare ?? braced ?? "") ?? preset ?? "",
  );
  if (image === "" || /[$"'\\{}]/.test(image))
    throw problem(instruction, `it cannot be told which image ${written} is`);
  return { image, stage }; // for another platform than ours it could not be run
}

/** `ARG name=value` before the first FROM. */
function readGlobal(rest: string, variables: Map<string, string>): void {
  for (const [, name = "", quoted, plain] of rest.matchAll(/(\w+)(?:=(?:"([^"]*)"|(\S*)))?/g)) {
    const value = quoted ?? plain;
    if (value !== undefined) variables.set(name, value);
  }
}

function check(instruction: Instruction): void {
  const { keyword, flags, rest } = instruction;
  const refused = REFUSED[keyword];
  if (refused !== undefined) throw problem(instruction, refused);
  if (keyword === "RUN" && flags.length > 0)
    throw problem(instruction, `RUN ${flags[0]} is not supported by every engine`);
  if (keyword !== "COPY" && keyword !== "ADD") return;
  const foreign = flags.find((flag) => !COPY_FLAGS.test(flag));
  if (foreign !== undefined) throw problem(instruction, `${keyword} ${foreign} is not supported`);
  // Fetched by the engine itself, which is in no container: it would reach whatever this machine reaches.
  if (keyword === "ADD" && /:\/\/|\bgit@|\$|\\/.test(rest))
    throw problem(
      instruction,
      "ADD takes files of the bot's folder only, and no variables; fetch others in a RUN",
    );
}

/** A `COPY --from` an image that is no stage of this file. */
function copyFrom(
  instruction: Instruction,
  { stages, images }: { stages: ReadonlySet<string>; images: Set<string> },
): Part | undefined {
  const sources = instruction.flags.flatMap((flag) => /^--from=(.*)$/.exec(flag)?.[1] ?? []);
  if (sources.length === 0) return undefined;
  const [image = ""] = sources;
  if (sources.length > 1 || image === "" || /[$"'\\]/.test(image))
    throw problem(instruction, "write COPY --from=stage or COPY --from=image");
  if (stages.has(image.toLowerCase()) || /^\d+$/.test(image)) return undefined;
  images.add(image);
  const { keyword, rest } = instruction;
  const flags = instruction.flags.filter((flag) => !flag.startsWith("--from="));
  return { kind: "copy", image, before: [keyword, ...flags, ""].join(" "), after: ` ${rest}` };
}

function problem({ line }: Instruction, text: string): ImageBuildError {
  return new ImageBuildError(`Dockerfile, line ${line}: ${text}`);
}
