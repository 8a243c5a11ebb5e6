import {
  choice,
  flag,
  optionalChoice,
  optionalWord,
  text,
  word,
  type ArgumentValues,
  type OptionValues,
} from "../command-option.ts";

const shared = {
  platform: optionalChoice({
    values: ["linux/amd64", "linux/arm64"],
    takes: "platform",
    help: "what it runs on (default: this machine's processor)",
  }),
  images: text({ takes: "folder", help: "where images are kept (default: ~/.cache/vocalhost/images)" }),
};

export const buildArguments = {
  folder: optionalWord({ help: "the bot's folder (default: that of vocalhost.toml, or this one)" }),
};

export const buildOptions = {
  name: text({
    takes: "name",
    short: "n",
    help: "what to call it, registry/name:tag (default: the image or the agent_name of vocalhost.toml)",
  }),
  ...shared,
  bot: text({ takes: "file", help: "the bot's file, if it is not bot.ts, bot.js or bot.mjs" }),
  output: text({ takes: "file", short: "o", help: "write an archive as well" }),
  format: choice({
    values: ["docker", "oci"],
    default: "docker",
    help: "of the archive: docker for docker load and podman load, oci for podman, skopeo and containerd",
  }),
  base: flag({ help: "make the base image instead of a bot's" }),
  packages: text({
    takes: "folder",
    help: "make the base of the packages in this folder, packed by npm pack, instead of those of the npm registry",
  }),
  fresh: flag({ help: "make the base again even if it is there, with the newest packages of Debian" }),
};

export const nameArgument = { name: word({ help: "name of the image, as image build was told" }) };

export const pushOptions = {
  ...shared,
  authFile: text({
    takes: "file",
    help: "what docker login wrote (default: REGISTRY_AUTH_FILE, or theirs and podman's own)",
  }),
  plain: flag({ help: "speak to the registry without TLS" }),
};

export const loadOptions = {
  ...shared,
  socket: text({ takes: "path", help: "of the engine (default: DOCKER_HOST, or the usual ones)" }),
};

export type BuildOptions = OptionValues<typeof buildOptions> & ArgumentValues<typeof buildArguments>;
export type PushOptions = OptionValues<typeof pushOptions> & ArgumentValues<typeof nameArgument>;
export type LoadOptions = OptionValues<typeof loadOptions> & ArgumentValues<typeof nameArgument>;
