import { list, negatedFlag, number, text, type OptionValues } from "../command-option.ts";
import { parsePort } from "../config.ts";

/** The options of `vocalhost dev` itself; all others belong to the runner or the bot. */
export const devOptions = {
  port: number({
    takes: "port",
    parse: parsePort,
    help: "port to listen on, 0 for a free one (default: 7860)",
  }),
  host: text({ takes: "address", help: "address to listen on (default: localhost)" }),
  open: negatedFlag({ help: "do not open the page in the browser" }),
  watch: list({ takes: "path", help: "also restart when files here change: prompts, data, other code" }),
};

export type DevOptions = OptionValues<typeof devOptions>;
