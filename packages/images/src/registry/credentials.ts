import { z } from "zod";

/** Opens a registry. Never put them into arguments, labels or logs. */
export interface RegistryCredentials {
  username: string;
  /** Or a token that is used as one. */
  password: string;
}

const AuthFile = z.object({
  auths: z
    .record(
      z.string(),
      z.object({
        auth: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
      }),
    )
    .optional(),
});

/** Reads the credentials for a registry from the file that `docker login` and `podman login` write. */
export function readAuthFile(text: string, registry: string): RegistryCredentials | undefined {
  const { auths = {} } = AuthFile.parse(JSON.parse(text));
  const found = Object.entries(auths).find(([key]) => hostOf(key) === registry)?.[1];
  if (!found) return undefined;
  if (found.username !== undefined && found.password !== undefined)
    return { username: found.username, password: found.password };
  const decoded = Buffer.from(found.auth ?? "", "base64").toString();
  const colon = decoded.indexOf(":");
  if (colon <= 0) return undefined;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

export function toBasicAuth({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Docker writes its own registry as an address with a path. */
function hostOf(key: string): string {
  const host = key.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
  return host === "index.docker.io" || host === "registry-1.docker.io" ? "docker.io" : host;
}
