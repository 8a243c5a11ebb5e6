import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { isSignedOut } from "../data/problem.ts";
import { queries } from "../data/queries.ts";
import { TextField } from "../ui/field.tsx";
import { Failed, Loading } from "../ui/notice.tsx";
import { decideDevice, readDevice } from "./auth-requests.ts";
import { SignInFrame, SignInProblem } from "./sign-in-frame.tsx";

const title = "Sign in the command line";

/** Signs in the terminal that shows the code, with the account of this browser. */
export function DevicePage() {
  const user = useQuery(queries.user());
  const navigate = useNavigate();
  const signedOut = isSignedOut(user.error);
  useEffect(() => {
    if (signedOut)
      void navigate({ to: "/sign-in", search: { next: location.pathname + location.search }, replace: true });
  }, [signedOut, navigate]);
  if (user.error && !signedOut) {
    return (
      <SignInFrame title={title}>
        <Failed error={user.error} retry={() => void user.refetch()} />
      </SignInFrame>
    );
  }
  if (!user.data) {
    return (
      <SignInFrame title={title}>
        <Loading what="your account" />
      </SignInFrame>
    );
  }
  return <Decision email={user.data.user.emails[0]?.emailAddress ?? ""} />;
}

function Decision({ email }: { email: string }) {
  const [code, setCode] = useState(
    () => new URLSearchParams(location.search).get("user_code")?.replace(/^"|"$/g, "") ?? "",
  );
  const decide = useMutation({
    mutationFn: async (decision: "approve" | "deny") => {
      const userCode = code.trim().toUpperCase().replaceAll("-", "");
      await readDevice(userCode);
      await decideDevice(decision, userCode);
    },
  });
  if (decide.isSuccess) {
    const approved = decide.variables === "approve";
    return (
      <SignInFrame title={approved ? "The command line is signed in" : "Refused"}>
        <p role="status" className="text-muted">
          {approved
            ? "Go back to your terminal; you can close this page."
            : "The command line was not signed in."}
        </p>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title={title} about={`It will act as ${email}, in every organisation you belong to.`}>
      {decide.error && <SignInProblem error={decide.error} />}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          decide.mutate("approve");
        }}
      >
        <TextField
          label="Code"
          value={code}
          onChange={setCode}
          autoComplete="off"
          spellCheck={false}
          hint="The code your terminal shows. If you did not start this, refuse it."
        />
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={decide.isPending || code.trim() === ""}>
            Allow
          </Button>
          <Button disabled={decide.isPending || code.trim() === ""} onClick={() => decide.mutate("deny")}>
            Refuse
          </Button>
        </div>
      </form>
    </SignInFrame>
  );
}
