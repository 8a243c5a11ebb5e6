import { defineCommand } from "../define-command.ts";
import { upOptions } from "../up/up-options.ts";

export const up = defineCommand({
  name: "up",
  summary: "run the service on this machine",
  description:
    "Runs the hosted service: dashboard, REST API, gateway and the agents deployed to it. It stays in the " +
    "foreground; Ctrl-C shuts it down cleanly. The first start creates keys, shows them once and signs you in. All settings are " +
    "environment variables, such as VOCALHOST_DATABASE_URL; the options here cover the common ones.",
  options: upOptions,
  examples: [
    { line: "vocalhost up", about: "at http://localhost:7870, kept in a folder of your user" },
    { line: "vocalhost up --port 8080 --data-dir /var/lib/vocalhost", about: "elsewhere" },
    {
      line: "vocalhost up --host 0.0.0.0 --public-url https://voice.example.com",
      about: "behind your TLS proxy",
    },
    { line: "vocalhost up --settings vocalhost.env", about: "with settings from a file" },
  ],
  load: () => import("../up/run-up.ts"),
});
