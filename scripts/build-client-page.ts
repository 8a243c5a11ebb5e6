// The page the runner serves at /client/.
import { buildPage } from "./build-page.ts";

await buildPage({
  name: "Client page",
  config: "packages/web/vite.config.ts",
  output: "packages/sdk/client-page",
  inputs: [
    "packages/web/{page-config,vite.config}.ts",
    "packages/web/{client,embed,shared}/**/*.*",
    "packages/{audio,protocol,simulator}/src/**/*.ts",
  ],
});
