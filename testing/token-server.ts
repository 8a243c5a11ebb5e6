import { execFile } from "node:child_process";
import { createPrivateKey, randomUUID, sign, type KeyObject, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { listenOnLoopback } from "./loopback-server.ts";
import type { RegistryDoor } from "./docker-registry.ts";

/** Gives out the tokens with which a registry is entered, as the public ones have it. */
export interface TokenServer extends AsyncDisposable {
  door: RegistryDoor & { kind: "token" };
  /** Scopes it was asked for, in order. */
  scopes: string[];
}

const SERVICE = "test-registry";
const ISSUER = "test-issuer";

export async function startTokenServer(user: { username: string; password: string }): Promise<TokenServer> {
  const folder = await mkdtemp(join(tmpdir(), "token-server-"));
  const { certificateFile, key, certificate } = await makeCertificate(folder);
  const scopes: string[] = [];
  const expected = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    const scope = searchParams.get("scope") ?? "";
    scopes.push(scope);
    const { authorization } = request.headers;
    if (authorization !== undefined && authorization !== expected) {
      response.writeHead(401, { "content-type": "application/json" }).end(`{"details":"no such user"}`);
      return;
    }
    // A client without credentials gets a token that opens nothing.
    const [type, name, actions = ""] = scope.split(":");
    const access = authorization === undefined ? [] : [{ type, name, actions: actions.split(",") }];
    const token = makeToken({ access, subject: user.username, key, certificate });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ token }));
  });
  const listening = await listenOnLoopback(server);
  const realm = `${listening.url}/token`;
  return {
    door: { kind: "token", realm, service: SERVICE, issuer: ISSUER, certificateFile },
    scopes,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeCertificate(
  folder: string,
): Promise<{ certificateFile: string; key: KeyObject; certificate: string }> {
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", "/CN=token-server", "-days", "2"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", keyFile, "-out", certificateFile];
  await promisify(execFile)("openssl", ["req", "-x509", ...curve, ...files, ...subject]);
  const certificate = new X509Certificate(await readFile(certificateFile)).raw.toString("base64");
  return { certificateFile, key: createPrivateKey(await readFile(keyFile)), certificate };
}

function makeToken(options: {
  access: unknown[];
  subject: string;
  key: KeyObject;
  certificate: string;
}): string {
  const now = Math.floor(Date.now() / 1000);
  const header = { typ: "JWT", alg: "ES256", x5c: [options.certificate] };
  const claims = {
    iss: ISSUER,
    sub: options.subject,
    aud: SERVICE,
    iat: now,
    nbf: now - 10,
    exp: now + 300,
    jti: randomUUID(),
    access: options.access,
  };
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = encoded.join(".");
  const signature = sign("sha256", Buffer.from(text), { key: options.key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}
