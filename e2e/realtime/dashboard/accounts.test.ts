// Sign-in and rights: real service, real browser, a real identity provider.
import { after } from "node:test";
import { startTestProvider } from "../../../packages/control-plane/src/identity/testing/test-oidc-provider.ts";
import { organizationTests } from "./accounts/organizations.ts";
import { settingsTests } from "./accounts/settings.ts";
import { signInTests } from "./accounts/sign-in.ts";
import { setStage } from "./stage.ts";

const provider = await startTestProvider({ email: "piet@example.com", sub: "piet" });
const stage = setStage({
  hasOwner: false,
  environment: {
    VOCALHOST_REGIONS: "us-west=US West (Oregon); eu-central=Europe (Frankfurt)",
    VOCALHOST_OIDC_ISSUER: provider.issuer,
    VOCALHOST_OIDC_CLIENT_ID: provider.clientId,
    VOCALHOST_OIDC_CLIENT_SECRET: provider.clientSecret,
  },
});
after(() => provider[Symbol.asyncDispose]());

signInTests(stage); // makes the owner, whom the others are about
settingsTests(stage);
organizationTests(stage);
