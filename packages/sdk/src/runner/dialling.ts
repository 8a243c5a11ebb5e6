import { AppError } from "@vocalhost/protocol";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Dialling } from "../server/doors/dial-out.ts";
import { carrierAccounts } from "./config.ts";

/** Calls cost money, so that only the bearer of a key of their own may place them, from wherever. */
export function createDialling(key: string | undefined): Dialling {
  return {
    admit({ headers }) {
      if (key === undefined)
        throw new AppError("DIALOUT_NOT_ALLOWED", {
          message:
            "This runner places no calls. Set VOCALHOST_DIALOUT_KEY to a secret of your own; whoever sends it as a bearer token may place them",
        });
      const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
      if (given === undefined || !isSame(given, key)) throw new AppError("DIALOUT_NOT_ALLOWED");
    },
    accounts: carrierAccounts,
  };
}

function isSame(given: string, key: string): boolean {
  return timingSafeEqual(digest(given), digest(key));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
