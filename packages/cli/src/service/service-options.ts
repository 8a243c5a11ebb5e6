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

/** What every command that asks the service takes. */
export const serviceOptions = { organization: organizationOption };

export interface ServiceOptions {
  organization: string | undefined;
}
