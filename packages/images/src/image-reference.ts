import { isDigest, type Digest } from "./digest.ts";
import { ImageError } from "./image-error.ts";

/** The name of an image: a registry, a repository in it, and a tag, a digest, or both. */
export interface ImageReference {
  /** `host` or `host:port`. */
  registry: string;
  repository: string;
  tag: string | undefined;
  digest: Digest | undefined;
}

const DEFAULT_REGISTRY = "docker.io";
const DEFAULT_TAG = "latest";
const REFERENCE_MAX = 512;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const REGISTRY = /^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::[0-9]{1,5})?$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$/;

/** Understands what engines understand: `parrot`, `team/parrot:1`, `registry.example.com:5000/team/parrot@sha256:…`. */
export function parseImageReference(text: string): ImageReference {
  const refuse = (why: string): ImageError =>
    new ImageError("REFERENCE_INVALID", `'${shortened(text)}' does not name an image: ${why}`);
  if (text.length > REFERENCE_MAX) throw refuse(`it is longer than ${REFERENCE_MAX} characters`);
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !isDigest(digest)))
    throw refuse("a digest is @sha256: and 64 hexadecimal digits");
  const { registry, rest } = splitRegistry(named);
  if (!REGISTRY.test(registry)) throw refuse(`'${shortened(registry)}' is not a registry's address`);
  const colon = rest.lastIndexOf(":");
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  if (tag !== undefined && !TAG.test(tag)) throw refuse(`'${shortened(tag)}' is not a tag`);
  if (!path.split("/").every((part) => COMPONENT.test(part)))
    throw refuse("names are lower-case letters, digits and single . _ - between them");
  const isOfficial = registry === DEFAULT_REGISTRY && !path.includes("/");
  return {
    registry,
    repository: isOfficial ? `library/${path}` : path,
    tag: tag ?? (digest === undefined ? DEFAULT_TAG : undefined),
    digest,
  };
}

/** The whole of it, as every engine understands it. */
export function formatImageReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}

function splitRegistry(named: string): { registry: string; rest: string } {
  const slash = named.indexOf("/");
  const first = slash < 0 ? "" : named.slice(0, slash);
  const isHost = first.includes(".") || first.includes(":") || first === "localhost";
  if (!isHost) return { registry: DEFAULT_REGISTRY, rest: named };
  const registry = first === "index.docker.io" ? DEFAULT_REGISTRY : first;
  return { registry, rest: named.slice(slash + 1) };
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
