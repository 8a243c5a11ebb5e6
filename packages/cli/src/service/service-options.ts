import { text } from "../command-option.ts";

export const organizationOption = text({
  takes: "name",
  short: "o",
  help: "organisation, if you belong to several (default: the one you signed in to)",
});

export const configFileOption = text({
  takes: "path",
  help: "project file to use instead of vocalhost.toml",
});

/** The options of every command that talks to the service. */
export const serviceOptions = { organization: organizationOption };

export interface ServiceOptions {
  organization: string | undefined;
}
