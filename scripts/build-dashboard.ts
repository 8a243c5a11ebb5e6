// The page the hosted service serves at its own address.
import { buildPage } from "./build-page.ts";

await buildPage({
  name: "Dashboard",
  config: "packages/web/dashboard/vite.config.ts",
  output: "packages/control-plane/dashboard-page",
  inputs: [
    "packages/web/page-config.ts",
    "packages/web/{client,dashboard,embed,shared}/**/*.*",
    "packages/{audio,protocol,simulator}/src/**/*.ts",
  ],
});
