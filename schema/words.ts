/*
 * A fixed list of words as one table, with the description of each and the name of their enum on the graph. The list for zod, the type, and
 * the enum (subgraphs/graph-enum.ts) are made of it.
 */

export interface Words<W extends string = string> {
  /** The name of the enum on the graph. */
  readonly graph: string;
  readonly description: string;
  /** In the order in which the words are listed. */
  readonly meanings: Readonly<Record<W, string>>;
}

export type WordOf<T extends Words> = keyof T['meanings'] & string;

/** Each word with its meaning, for the description of a member. */
export function describedWords({ description, meanings }: Words): string {
  return [description, ...Object.entries(meanings).map(([word, meaning]) => `\`${word}\`: ${meaning}`)].join(' ');
}

export function wordList<W extends string>({ meanings }: Words<W>): readonly W[] {
  return Object.keys(meanings) as W[];
}

/** Description of a member of a request that has one possible value. Short schemas recognize it (rest-compat/faces/mcp). */
export function constantText(value: unknown): string {
  return `Always \`${String(value)}\`.`;
}

/** Description of such a member that may be left out. */
export function optionalConstantText(value: unknown): string {
  return `Always \`${String(value)}\`, or left out.`;
}
