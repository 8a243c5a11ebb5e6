import { flag, number, parseWholeNumber, text, type OptionValues } from "../command-option.ts";

/** Settings of the service that have a flag; all others are variables. */
export const upOptions = {
  port: number({
    takes: "port",
    short: "p",
    parse: parseWholeNumber({ min: 0, max: 65_535 }),
    help: "port to listen on (default: 7870)",
  }),
  host: text({ takes: "name", help: "address to listen on (default: localhost)" }),
  dataDir: text({
    takes: "folder",
    help: "data folder (default: .vocalhost here if it exists, else ~/.local/share/vocalhost)",
  }),
  publicUrl: text({ takes: "url", help: "address callers reach it by (default: http://localhost:7870)" }),
  settings: text({ takes: "file", help: "file of settings, one NAME=value per line" }),
  example: text({ takes: "name=folder", help: "on the first start, deploy this bot under this name" }),
  verbose: flag({ short: "v", help: "show every request" }),
};

export type UpOptions = OptionValues<typeof upOptions>;

/** As the service is told. */
export function toVariables(options: Partial<UpOptions>): Record<string, string> {
  const variables: Record<string, string | undefined> = {
    VOCALHOST_PORT: options.port?.toString(),
    VOCALHOST_HOST: options.host,
    VOCALHOST_DATA_DIR: options.dataDir,
    VOCALHOST_PUBLIC_URL: options.publicUrl,
    VOCALHOST_CONFIG: options.settings,
  };
  const given = Object.entries(variables).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries(given);
}
