import { FIRST_RUN_FILE, type FirstRun } from "../controller/first-run-file.ts";

export const HELP = `Runs the hosted service on this machine.

Options
  --example name=folder  on the first start, deploy this bot under this name
  --default-data-dir     folder to keep everything in where no setting names one
  --default-base-images  folder with the base image, the same way
  -h, --help             this text

Settings come from the environment, or from a file of them that VOCALHOST_CONFIG names:
  VOCALHOST_PORT         port to listen on                     (7870)
  VOCALHOST_HOST         address to listen on                  (localhost)
  VOCALHOST_DATA_DIR     folder for everything that is kept    (.vocalhost if there is one here,
                                                               else ~/.local/share/vocalhost)
  VOCALHOST_PUBLIC_URL   how callers reach it                  (http://localhost:7870)
  VOCALHOST_DATABASE_URL a Postgres database instead of SQLite
All of them: docs/hosted/configuration.md
`;

/** Returns the text printed by every later start. */
export function readyText(options: {
  publicUrl: string;
  dataFolder: string;
  /** The file with the keys of the first start, if it still exists. */
  keysFile: string | undefined;
  ownerLink: string | undefined;
}): string {
  const { publicUrl, dataFolder, keysFile, ownerLink } = options;
  const keys = keysFile ? `  Keys        in ${keysFile}\n` : "";
  const owner = ownerLink
    ? `  Owner link  ${ownerLink}\n              makes you the owner; once, within 24 hours\n`
    : "";
  return `
  Vocalhost is running.

  API         ${publicUrl}/v1
  Reference   ${publicUrl}/v1/docs
  Dashboard   ${publicUrl}
${owner}  Data        ${dataFolder}
${keys}
`;
}

/** Returns the text printed by the first start, the only time the keys are shown. */
export function welcomeText(options: {
  firstRun: FirstRun;
  agentName: string | undefined;
  dataFolder: string;
  /** Whether the driver can run bots from their folders. */
  takesFolders: boolean;
}): string {
  const { firstRun, agentName, dataFolder, takesFolders } = options;
  const deploy = takesFolders
    ? "Then deploy a bot from its folder: npx vocalhost deploy"
    : "Then deploy a bot from its image: npx vocalhost deploy my-bot registry.example.com/team/my-bot:1";
  const next = agentName
    ? `  Next: open this link, choose a password and talk to '${agentName}'. It makes you the owner; once, within 24 hours.

    ${talkLink(firstRun.ownerLink, agentName)}

  From a program, an application starts sessions like this:

    curl -X POST ${firstRun.apiUrl}/public/${agentName}/start \\
      -H "Authorization: Bearer ${firstRun.publicKey}" \\
      -H "Content-Type: application/json" -d '{"transport":"webrtc"}'
`
    : `  Next: open the owner link and choose a password. It makes you the owner; once, within 24 hours.
  ${deploy}
`;
  return `
  Vocalhost is running.

  API          ${firstRun.apiUrl}
  Reference    ${firstRun.apiUrl}/docs
  Dashboard    ${firstRun.dashboardUrl}
  Private key  ${firstRun.privateKey}   manages agents; keep it on servers
  Public key   ${firstRun.publicKey}   starts sessions; may be in web pages
  Owner link   ${firstRun.ownerLink}

${next}
  The same is in ${dataFolder}/${FIRST_RUN_FILE}. Ctrl-C ends everything.

`;
}

/** Returns the owner's link that leads on to the conversation. */
function talkLink(ownerLink: string, agentName: string): string {
  const url = new URL(ownerLink);
  url.searchParams.set("talk", agentName);
  return url.href;
}
