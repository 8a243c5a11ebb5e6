/** Something the author of the bot can mend; the text is for them. */
export class BuildProblem extends Error {
  override readonly name = "BuildProblem";
}
