/** The words of one turn. `|` is where they pause and speak on; the marks are how it is said and written. */
export const TURNS: readonly string[] = [
  // said in one go
  "What time do you open on Sunday?",
  "I would like a table for two at eight.",
  "Can you tell me where my order is?",
  "That is all, thank you.",
  "Yes please.",
  "No.",
  "My name is Susan Miller.",
  "How much does it cost to send a parcel to Spain?",
  // numbers in groups
  "Twenty | three.",
  "My number is zero one seven two, | five five three, | eight nine one.",
  "It is four four one | seven oh nine | two two.",
  "The code is nine one | six four.",
  "Call me at six five oh | five five five.",
  // fillers
  "I would like, um, | a table by the window.",
  "Can I have the, uh, | the blue one please?",
  "So, um, | I have a question about my bill.",
  "It was on Monday, I mean, | on Tuesday.",
  // lists
  "I need two apples, | three pears, | and a bottle of milk.",
  "We went to Paris, | Rome, | and Madrid.",
  "Milk, | bread, | and butter please.",
  // unfinished sentences
  "I want to | cancel my order.",
  "Could you send it to | my office in the city?",
  "I called yesterday because | the package was broken.",
  "The reason I am calling is that | I cannot log in.",
  "Is it possible to | change the date of my flight?",
  "I would like to book a table for | the day after tomorrow.",
  "If it rains tomorrow, | can I move the appointment?",
  "Well, | I am not sure.",
  // a pause where a sentence could have ended
  "I would like a taxi | to the airport please.",
  "Can you call me back | after six this evening?",
];

export interface Part {
  text: string;
  isLast: boolean;
}

export function partsOf(turn: string): Part[] {
  const texts = turn.split("|").map((text) => text.trim());
  return texts.map((text, at) => ({ text, isLast: at === texts.length - 1 }));
}
