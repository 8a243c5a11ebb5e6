import { AppError } from "@vocalhost/protocol";

export function usedUp(): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message: "This upload address has been used" });
}
