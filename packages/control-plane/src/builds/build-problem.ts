/** A problem that the bot's author can fix; the message is for the author. */
export class BuildProblem extends Error {
  override readonly name = "BuildProblem";
}
