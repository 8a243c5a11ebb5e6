import { createPageConfig } from "../page-config.ts";

/** The dashboard: the page the hosted service serves at its own address. */
export default createPageConfig({
  root: "dashboard",
  base: "/",
  output: "../control-plane/dashboard-page",
  // Cut by who shares what it would be eighty files of a kilobyte or two, all of which are loaded with the first view or
  // right after it: asking for them takes longer than having them.
  pieces: [
    { name: "frame", tags: ["$initial"], priority: 2 },
    { name: "pages", test: /packages\/web\/dashboard\/(?!talk\/|ui\/chart-canvas)/, priority: 1 },
  ],
});
