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
    help: "platform it runs on (default: this machine's)",
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
    help: "name of the image, registry/name:tag (default: image or agent_name in vocalhost.toml)",
  }),
  ...shared,
  bot: text({ takes: "file", help: "the bot's file, if it is not bot.ts, bot.js or bot.mjs" }),
  output: text({ takes: "file", short: "o", help: "write an archive as well" }),
  format: choice({
    values: ["docker", "oci"],
    default: "docker",
    help: "archive format: docker for docker load and podman load, oci for podman, skopeo and containerd",
  }),
  base: flag({ help: "make the base image instead of a bot's" }),
  packages: text({
    takes: "folder",
    help: "make the base from the npm pack archives in this folder instead of the npm registry",
  }),
  fresh: flag({ help: "make the base again with the newest Debian packages" }),
};

export const nameArgument = { name: word({ help: "name of the image, as given to image build" }) };

export const pushOptions = {
  ...shared,
  authFile: text({
    takes: "file",
    help: "file with the registry login (default: REGISTRY_AUTH_FILE, or the files of docker login and podman login)",
  }),
  plain: flag({ help: "speak to the registry without TLS" }),
};

export const loadOptions = {
  ...shared,
  socket: text({ takes: "path", help: "socket of the engine (default: DOCKER_HOST, or the usual places)" }),
};

export type BuildOptions = OptionValues<typeof buildOptions> & ArgumentValues<typeof buildArguments>;
export type PushOptions = OptionValues<typeof pushOptions> & ArgumentValues<typeof nameArgument>;
export type LoadOptions = OptionValues<typeof loadOptions> & ArgumentValues<typeof nameArgument>;
