import { createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { listenOnLoopback } from "../../../../../testing/loopback-server.ts";
import type { OidcProvider } from "../auth-library.ts";

/** An OIDC provider for tests that signs every visitor in as the same person. */
export interface TestProvider extends OidcProvider, AsyncDisposable {
  /** Returns the last token it issued. */
  issuedToken(): string;
}

export async function startTestProvider(person: { email: string; sub: string }): Promise<TestProvider> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const clientId = "vocalhost";
  let issuer = "";
  let accessToken = "";

  function idToken(): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: now,
      exp: now + 60,
      email_verified: true,
      name: "Test",
      ...person,
    };
    const parts = [{ alg: "RS256", typ: "JWT", kid: "1" }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    return `${parts.join(".")}.${createSign("sha256").update(parts.join(".")).sign(privateKey, "base64url")}`;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", issuer);
    const json = (body: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          token_endpoint_auth_methods_supported: ["client_secret_basic"],
        });
        break;
      case "/authorize": {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", "code");
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        response.writeHead(302, { location: back.href }).end();
        break;
      }
      case "/token":
        accessToken = randomUUID();
        json({ access_token: accessToken, token_type: "Bearer", expires_in: 60, id_token: idToken() });
        break;
      case "/jwks":
        json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }] });
        break;
      default:
        response.writeHead(404).end();
    }
  }

  const server = createServer(answer);
  const listening = await listenOnLoopback(server);
  issuer = listening.url;
  return {
    issuer,
    clientId,
    clientSecret: "client secret",
    issuedToken: () => accessToken,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
