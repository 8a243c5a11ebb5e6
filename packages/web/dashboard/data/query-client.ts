import { QueryCache, QueryClient } from "@tanstack/react-query";
import { isSignedOut } from "./problem.ts";
import { sessionLost } from "./session.ts";

const FALLBACK_POLL_MS = 30_000; // events tell sooner; this is for when they cannot

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isSignedOut(error)) sessionLost.set(true);
    },
  }),
  defaultOptions: {
    queries: {
      networkMode: "always", // being offline is an answer, not a reason to wait
      retry: false, // the client repeats what is worth repeating
      staleTime: 5_000,
      refetchInterval: FALLBACK_POLL_MS,
    },
    mutations: { networkMode: "always", retry: false },
  },
});
