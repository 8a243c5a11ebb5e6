import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { toServiceUrl } from "../service/base-url.ts";
import { onService } from "../service/on-service.ts";
import { isKey } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toFacts } from "../table.ts";

/** `vocalhost auth whoami` */
export const run = onService<ServiceOptions>(
  async ({ api, apiUrl, credentials, organization }, _options, context) => {
    const [{ user }, { organizations }] = await Promise.all([api.user(), api.organizations()]);
    const email = user.emails[0]?.emailAddress;
    const active = organizations.find(({ name }) => name === organization) ?? organizations[0];
    const method = isKey(credentials.token ?? "") ? "private key" : "browser";
    const from = credentials.source === "environment" ? "VOCALHOST_API_KEY" : "the credentials file";
    answer(
      context,
      {
        service: toServiceUrl(apiUrl),
        userId: user.userId,
        email,
        organization: active,
        organizations,
        method,
        source: credentials.source,
      },
      toFacts(context.ui, [
        ["You", email ?? user.userId],
        [
          "Organisation",
          active
            ? `${active.verboseName} (${active.name}${active.role === undefined ? "" : `, ${active.role}`})`
            : "none",
        ],
        ["Service", toServiceUrl(apiUrl)],
        ["By", `${method}, from ${from}`],
      ]),
    );
    return exitCodes.ok;
  },
);
