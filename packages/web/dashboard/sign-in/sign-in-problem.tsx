import { ApiError } from "@vocalhost/protocol";
import { Alert, Failed } from "../ui/notice.tsx";
import { CookieRefusedError } from "./enter.ts";

export function SignInProblem({ error }: { error: unknown }) {
  if (error instanceof CookieRefusedError) {
    return (
      <Alert title="Your browser did not keep the sign-in">
        Browsers keep it only over HTTPS or on localhost. Open the dashboard at such an address.
      </Alert>
    );
  }
  if (error instanceof ApiError) {
    if (error.code === "INVALID_EMAIL_OR_PASSWORD" || error.code === "INVALID_EMAIL")
      return <Alert title="Wrong e-mail or password" />;
    if (error.status === 429) return <Failed error={error} />;
    if (error.status < 500) return <Alert title={error.message} />;
  }
  return <Failed error={error} />;
}
