import { SecretSetName } from "@vocalhost/protocol";
import { usageProblem } from "../problem.ts";
import { explained } from "../service/explain.ts";
import type { Service } from "../service/open-service.ts";

/** With a sentence about a set that does not exist. */
export function aboutSet<T>(service: Pick<Service, "apiUrl">, name: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the secret set '${name}'`,
    missing: ["See which exist: vocalhost secrets list"],
  });
}

export function checkSetName(name: string): void {
  if (SecretSetName.safeParse(name).success) return;
  throw usageProblem(
    `"${name}" cannot be the name of a secret set.`,
    "Use 3 to 63 of a-z, 0-9 and inner hyphens and dots.",
  );
}
