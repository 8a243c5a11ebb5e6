import type { CommandContext } from "../define-command.ts";
import { explained } from "./explain.ts";
import { openService, type Service } from "./open-service.ts";
import type { ServiceOptions } from "./service-options.ts";
import { whereItStands } from "./where-it-stands.ts";

type Body<Options> = (service: Service, options: Options, context: CommandContext) => Promise<number>;

/** A command that asks the service: signed in, and with its refusals explained. */
export function onService<Options extends ServiceOptions>(
  body: Body<Options>,
): (options: Options, context: CommandContext) => Promise<number> {
  return async (options, context) => {
    const service = await openService(options, context);
    return whereItStands(
      context,
      () => "This was only a query; nothing was changed.",
      () => explained(service, body(service, options, context)),
    );
  };
}
