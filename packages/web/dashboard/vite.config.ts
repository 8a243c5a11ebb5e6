import { createPageConfig } from "../page-config.ts";

/** The dashboard: the page the hosted service serves at its own address. */
export default createPageConfig({
  root: "dashboard",
  base: "/",
  output: "../control-plane/dashboard-page",
});
