import { createContext, useContext } from "react";

/** The signed-in account and its role in the chosen organisation. */
export interface Me {
  userId: string;
  email: string;
  organization: string;
  organizations: { name: string; verboseName: string }[];
  role: "owner" | "admin" | "viewer";
}

export const MeContext = createContext<Me | undefined>(undefined);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error("useMe is for pages inside the shell");
  return me;
}

/** Viewers look. The service refuses them anyway; this keeps the page from offering it. */
export function useMayChange(): boolean {
  return useMe().role !== "viewer";
}
