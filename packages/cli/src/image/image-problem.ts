import { BuildProblem, EngineError, ImageError, type ImageErrorCode } from "@vocalhost/images";
import { Problem } from "../problem.ts";

const FIXES: Record<ImageErrorCode, string[]> = {
  REFERENCE_INVALID: ["Write it as registry.example.com/team/name:tag."],
  IMAGE_NOT_FOUND: ["Check the name and the tag."],
  IMAGE_UNAUTHORIZED: [
    "Sign in with docker login or podman login, or set VOCALHOST_REGISTRY_USERNAME and VOCALHOST_REGISTRY_PASSWORD.",
    "May this user push there?",
  ],
  IMAGE_WRONG_PLATFORM: ["Choose another with --platform."],
  REGISTRY_UNREACHABLE: ["Check the registry's name and port.", "A registry without TLS needs --plain."],
  REGISTRY_FAILED: ["Try again; if it stays so, ask whoever runs the registry."],
};

/** Does the work, and says what a user can do if it fails. */
export async function withImageProblems<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImageError)
      throw new Problem(error.code.toLowerCase(), error.message, { fixes: FIXES[error.code], cause: error });
    if (error instanceof EngineError)
      throw new Problem("engine_failed", error.message, {
        fixes: [
          "Is it running, and may you use it? Name its socket with --socket.",
          "Or write an archive: vocalhost image build --output bot.tar, then docker load -i bot.tar.",
        ],
        cause: error,
      });
    if (error instanceof BuildProblem)
      throw new Problem("image_not_built", error.message, { why: error.output || undefined, cause: error });
    throw error;
  }
}
