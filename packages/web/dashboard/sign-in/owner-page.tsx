import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Alert } from "../ui/notice.tsx";
import { redeemLink } from "./auth-requests.ts";
import { enter } from "./enter.ts";
import { SignInFrame, SignInProblem } from "./sign-in-frame.tsx";

const PASSWORD_MIN = 8;

/** Takes an owner's link or an invitation: what stands behind the # never reaches a server's log. */
export function OwnerPage() {
  const token = useHiddenToken();
  // After the first start the next step is to hear the bot.
  const [agentName] = useState(() => new URLSearchParams(location.search).get("talk"));
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const navigate = useNavigate();
  const submit = useMutation({
    mutationFn: async () => {
      await redeemLink({ token, email: email.trim(), password });
      await enter();
      if (agentName === null) await navigate({ to: "/agents" });
      else await navigate({ to: "/agents/$name/talk", params: { name: agentName } });
    },
  });
  if (token === "") {
    return (
      <SignInFrame title="This link is incomplete">
        <Alert title="The part after the # is missing">
          Open the whole link, as the service printed it or as it was sent to you.
        </Alert>
      </SignInFrame>
    );
  }
  const isShort = password !== "" && password.length < PASSWORD_MIN;
  return (
    <SignInFrame
      title="Welcome to Vocalhost"
      about="Choose how you will sign in from now on. This link works once."
    >
      {submit.error && <SignInProblem error={submit.error} />}
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
          autoComplete="new-password"
          required
          value={password}
          onChange={setPassword}
          hint={`At least ${PASSWORD_MIN} characters`}
          problem={isShort ? `${PASSWORD_MIN - password.length} more characters` : undefined}
        />
        <Button
          type="submit"
          look="primary"
          disabled={submit.isPending || email === "" || password.length < PASSWORD_MIN}
        >
          {submit.isPending ? "Creating your account…" : "Create account"}
        </Button>
      </form>
    </SignInFrame>
  );
}

/** From behind the #, which is then taken out of the address and the browser's history. */
function useHiddenToken(): string {
  const [token, setToken] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const take = () => {
      const found = location.hash.slice(1);
      if (found === "") return;
      setToken(found);
      history.replaceState(history.state, "", location.pathname);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return token;
}
