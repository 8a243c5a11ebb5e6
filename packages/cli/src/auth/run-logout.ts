import { answer } from "../answer.ts";
import { readServiceVariables } from "../config.ts";
import { credentialsFile } from "../credentials/credentials-file.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes } from "../problem.ts";
import { toServiceUrl } from "../service/base-url.ts";
import { isKey } from "../service/open-service.ts";

const TELL_MS = 10_000;

/** `vocalhost auth logout` */
export async function run(_options: object, context: CommandContext): Promise<number> {
  const variables = readServiceVariables();
  const file = credentialsFile(variables.configFolder);
  const stored = await file.read().catch(() => undefined); // a damaged file goes as well
  if (stored && !isKey(stored.credentials.token))
    await endSession(stored.credentials).catch(() =>
      context.ui.note("The service could not be reached; your sign-in there will expire on its own."),
    );
  const wasThere = await file.remove();
  if (variables.apiKey !== undefined) context.ui.note("VOCALHOST_API_KEY is still set and will be used.");
  const text = wasThere ? `Signed out. Removed ${file.path}.` : "You were not signed in.";
  answer(context, { wasSignedIn: wasThere }, text);
  return exitCodes.ok;
}

async function endSession({ apiUrl, token }: { apiUrl: string; token: string }): Promise<void> {
  const response = await fetch(`${toServiceUrl(apiUrl)}/auth/logout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ refresh_token: token }),
    signal: AbortSignal.timeout(TELL_MS),
  });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
}
