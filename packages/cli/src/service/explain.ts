import { ApiError } from "@vocalhost/protocol";
import { serviceProblem } from "./service-problem.ts";

/** Who was asked. */
interface Asked {
  apiUrl: string;
}

/** What the service refuses becomes a `Problem`; `about` says what does not exist when it says so. */
export async function explained<T>(
  { apiUrl }: Asked,
  work: Promise<T>,
  about: { subject?: string; missing?: string[] } = {},
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw serviceProblem(error, { apiUrl, ...about });
  }
}

export function aboutAgent<T>(service: Asked, name: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the agent '${name}'`,
    missing: ["See which exist: vocalhost agent list", `Create it: vocalhost deploy ${name}`],
  });
}

export function aboutSession<T>(service: Asked, id: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the session ${id}`,
    missing: ["See which exist: vocalhost agent sessions"],
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
