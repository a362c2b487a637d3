/*
 * Words of a fixed list as one table: what each of them means, and what the graph calls their enum. The list that zod checks by, their
 * type, and the enum of the graph (subgraphs/graph-enum.ts) are made of it.
 */

export interface Words<W extends string = string> {
  /** The name of the enum on the graph. */
  readonly graph: string;
  readonly description: string;
  /** In the order in which the words are listed. */
  readonly meanings: Readonly<Record<W, string>>;
}

export type WordOf<T extends Words> = keyof T['meanings'] & string;

/** Each word with what it means, for the description of a member that holds one. */
export function describedWords({ description, meanings }: Words): string {
  return [description, ...Object.entries(meanings).map(([word, meaning]) => `\`${word}\`: ${meaning}`)].join(' ');
}

export function wordList<W extends string>({ meanings }: Words<W>): readonly W[] {
  return Object.keys(meanings) as W[];
}
