import { httpUrl, readSettings, type Settings } from "@vocalhost/protocol";
import type { OidcProvider } from "./auth-library.ts";

export const oidcSettings = {
  issuer: {
    name: "VOCALHOST_OIDC_ISSUER",
    schema: httpUrl("https://accounts.example.com").optional(),
    help: "address of the provider of single sign-on; needs the two below",
  },
  clientId: {
    name: "VOCALHOST_OIDC_CLIENT_ID",
    help: "client id of this service there",
  },
  clientSecret: {
    name: "VOCALHOST_OIDC_CLIENT_SECRET",
    isSecret: true,
    help: "client secret of this service there",
  },
} as const satisfies Settings;

/** Throws an error that names the missing settings. */
export function readOidc(environment: Record<string, string | undefined>): OidcProvider | undefined {
  const { issuer, clientId, clientSecret } = readSettings(oidcSettings, environment);
  if (!issuer && !clientId && !clientSecret) return undefined;
  if (issuer && clientId && clientSecret) return { issuer, clientId, clientSecret };
  throw new Error(
    "Single sign-on needs all of VOCALHOST_OIDC_ISSUER, VOCALHOST_OIDC_CLIENT_ID, VOCALHOST_OIDC_CLIENT_SECRET",
  );
}
