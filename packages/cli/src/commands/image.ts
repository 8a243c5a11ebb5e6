import { defineCommand } from "../define-command.ts";
import {
  buildArguments,
  buildOptions,
  loadOptions,
  nameArgument,
  pushOptions,
} from "../image/image-options.ts";

export const imageCommands = [
  defineCommand({
    name: "image build",
    summary: "make a bot's container image, without an engine",
    description:
      "Makes an image from the bot's folder and the base image, without Docker, Podman or a registry. It holds the files that " +
      "deploy would upload and the packages they need, for linux/amd64 or linux/arm64. The same folder gives the same digest. " +
      "The image stays on this machine until you push it, load it or write it to an archive. If the base image is missing, " +
      "it is made first, from npm packages and Debian 12.",
    arguments: buildArguments,
    options: buildOptions,
    examples: [
      { line: "vocalhost image build", about: "this folder, named as vocalhost.toml says" },
      {
        line: "vocalhost image build bots/parrot --name registry.example.com/team/parrot:1.2",
        about: "ready to push",
      },
      { line: "vocalhost image build --platform linux/arm64", about: "for another processor" },
      {
        line: "vocalhost image build --output ../bot.tar",
        about: "also as an archive: docker load -i ../bot.tar",
      },
      { line: "vocalhost image build --base --output base.tar", about: "the base and its bill of materials" },
    ],
    load: async () => (await import("../image/build.ts")).build,
  }),
  defineCommand({
    name: "image push",
    summary: "send an image to a registry",
    description:
      "Sends an image that image build made to the registry that its name begins with, and shows the digest to deploy. Layers " +
      "the registry has already are not sent again. The user is taken from VOCALHOST_REGISTRY_USERNAME and " +
      "VOCALHOST_REGISTRY_PASSWORD, or else from what docker login or podman login wrote; never from the command line, which " +
      "other users of the machine can read.",
    arguments: nameArgument,
    options: pushOptions,
    examples: [
      { line: "vocalhost image push registry.example.com/team/parrot:1.2", about: "after docker login" },
      {
        line: "vocalhost image push registry.example.com/team/parrot:1.2 --auth-file auth.json",
        about: "with the users of that file",
      },
      { line: "vocalhost image push 10.0.0.5:5000/parrot:1 --plain", about: "to a registry without TLS" },
    ],
    load: async () => (await import("../image/images.ts")).push,
  }),
  defineCommand({
    name: "image load",
    summary: "give an image to Docker or Podman",
    description:
      "Gives an image that image build made to the engine of this machine, so that it can be run or built on. The engine is " +
      "found by DOCKER_HOST or at its usual sockets.",
    arguments: nameArgument,
    options: loadOptions,
    examples: [
      {
        line: "vocalhost image load vocalhost/base:0.2.0",
        about: "for docker build with FROM vocalhost/base",
      },
      {
        line: "vocalhost image load parrot:latest --socket /run/podman/podman.sock",
        about: "into this engine",
      },
    ],
    load: async () => (await import("../image/images.ts")).load,
  }),
];
