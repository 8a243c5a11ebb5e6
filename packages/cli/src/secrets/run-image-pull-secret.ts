import { answer } from "../answer.ts";
import { exitCodes, usageProblem } from "../problem.ts";
import { askFor } from "../questions.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { whereItStands } from "../service/where-it-stands.ts";
import { aboutSet, checkSetName } from "./about-set.ts";
import { waitUntilStored } from "./wait-until-stored.ts";

interface Options extends ServiceOptions {
  set: string;
  host: string;
  login: string | undefined;
  region: string | undefined;
  encode: boolean;
}

/** `vocalhost secrets image-pull-secret` */
export const run = onService<Options>(async (service, options, context) => {
  const { set } = options;
  checkSetName(options.set);
  const host = /^https?:\/\//.test(options.host) ? options.host : `https://${options.host}`;
  const login = options.login ?? (await askForLogin());
  if (options.encode && !/^[^:]+:.+$/s.test(login))
    throw usageProblem("That is not a user name and token.", "Write user:token.");
  const secretValue = options.encode ? Buffer.from(login).toString("base64") : login;
  const region = options.region === undefined ? {} : { region: options.region };
  await aboutSet(
    service,
    set,
    service.api.secrets.put(set, { isImagePullSecret: true, host, secretValue, ...region }),
  );
  return whereItStands(
    context,
    () => "The service has accepted the login. Check it with: vocalhost secrets list",
    async () => {
      await waitUntilStored(service, set, context);
      answer(
        context,
        { set, host },
        `Stored the login for ${host} as '${set}'. Use it with: vocalhost deploy --credentials ${set}`,
      );
      return exitCodes.ok;
    },
  );

  async function askForLogin(): Promise<string> {
    const flag = "a third argument, user:token";
    const user = await askFor(context, { message: `User name at ${options.host}`, flag });
    const token = await askFor(context, { message: "Token or password", flag, isSecret: true });
    return `${user}:${token}`;
  }
});
