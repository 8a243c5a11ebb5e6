import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Certificates as `docs/hosted/many-machines.md` has them made. */
export interface TestAuthority extends AsyncDisposable {
  /** Certificate of the authority. */
  readonly ca: string;
  /** For these names; gives the files. */
  issue(file: string, names: string[]): Promise<{ ca: string; cert: string; key: string }>;
}

const run = promisify(execFile);
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export async function makeTestAuthority(): Promise<TestAuthority> {
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-certificates-"));
  const at = (name: string): string => join(folder, name);
  const ca = at("ca.pem");
  await run("openssl", [
    ...["req", "-x509", ...NEW_KEY, "-days", "2", "-subj", "/CN=test authority"],
    ...["-keyout", at("ca.key"), "-out", ca],
  ]);
  return {
    ca,
    async issue(file, names) {
      const [cert, key, request] = [at(`${file}.pem`), at(`${file}.key`), at(`${file}.csr`)];
      await run("openssl", ["req", ...NEW_KEY, "-subj", `/CN=${file}`, "-keyout", key, "-out", request]);
      await writeFile(
        at(`${file}.ext`),
        `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}\nextendedKeyUsage=serverAuth,clientAuth\n`,
      );
      await run("openssl", [
        ...["x509", "-req", "-in", request, "-CA", ca, "-CAkey", at("ca.key"), "-CAcreateserial"],
        ...["-days", "2", "-extfile", at(`${file}.ext`), "-out", cert],
      ]);
      return { ca, cert, key };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
