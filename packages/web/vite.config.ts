import { createPageConfig } from "./page-config.ts";

/** The prebuilt client: the page the runner serves at /client/. */
export default createPageConfig({ root: "client", base: "/client/", output: "../sdk/client-page" });
