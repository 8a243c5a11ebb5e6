import { AppError, type FieldProblem } from "@vocalhost/protocol";

export function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}

/** Returns an `Invalid parameters` error with the field and the reason. */
export function badField(field: string, message: string): AppError {
  const problems: FieldProblem[] = [{ loc: ["body", ...field.split(".")], msg: message, type: "custom" }];
  return new AppError("GENERIC_BAD_REQUEST", { problems });
}

export function notFound(message: string): AppError {
  return new AppError("NOT_FOUND", { message });
}
