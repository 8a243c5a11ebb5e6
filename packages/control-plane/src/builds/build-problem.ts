/** Something the bot's author can fix; the text is for them. */
export class BuildProblem extends Error {
  override readonly name = "BuildProblem";
}
