import { explained } from "../service/explain.ts";
import type { Service } from "../service/open-service.ts";

/** With a sentence about a set that does not exist. */
export function aboutSet<T>(service: Pick<Service, "apiUrl">, name: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the secret set '${name}'`,
    missing: ["Which are there? vocalhost secrets list"],
  });
}
