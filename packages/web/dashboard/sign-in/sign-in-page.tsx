import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { queries } from "../data/queries.ts";
import { TextField } from "../ui/field.tsx";
import { Alert } from "../ui/notice.tsx";
import { signIn, signInWithProvider } from "./auth-requests.ts";
import { enter, nextAddress } from "./enter.ts";
import { SignInFrame, SignInProblem } from "./sign-in-frame.tsx";

export function SignInPage() {
  const router = useRouter();
  const methods = useQuery(queries.signInMethods()).data?.methods ?? ["password"];
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const next = nextAddress(location.search);
  const refusal = new URLSearchParams(location.search).get("error");
  const submit = useMutation({
    mutationFn: async () => {
      await signIn({ email: email.trim(), password });
      await enter();
      router.history.push(next);
    },
  });
  const provider = useMutation({
    mutationFn: async () => location.assign(await signInWithProvider(next)),
  });
  const error = submit.error ?? provider.error;
  return (
    <SignInFrame title="Sign in">
      {error ? (
        <SignInProblem error={error} />
      ) : (
        refusal && <Alert title="The provider refused to sign you in" />
      )}
      {methods.includes("oidc") && (
        <ProviderButton isBusy={provider.isPending} onClick={() => provider.mutate()} />
      )}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit.mutate();
        }}
      >
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        <Button
          type="submit"
          look={methods.includes("oidc") ? "plain" : "primary"}
          disabled={submit.isPending}
        >
          {submit.isPending ? "Signing in…" : "Sign in"}
        </Button>
      </form>
      <p className="text-sm text-pretty text-muted">
        No account yet? The service prints a link for the first owner when it starts for the first time.
        Everyone else gets an invitation from an owner or an admin.
      </p>
    </SignInFrame>
  );
}

function ProviderButton({ isBusy, onClick }: { isBusy: boolean; onClick: () => void }) {
  return (
    <>
      <Button look="primary" disabled={isBusy} onClick={onClick}>
        {isBusy ? "Redirecting…" : "Sign in with your organisation"}
      </Button>
      <p className="text-center text-sm text-muted">or with a password</p>
    </>
  );
}
