import { registerEnumType } from 'type-graphql';
import type { Words } from '../schema/words.ts';

const made = new Map<string, { readonly table: Words; readonly shown: Readonly<Record<string, string>> }>();

/**
 * Registers a table of words as an enum of the graph, once for each table. The values are spelled as on the wire, and the meaning of each
 * word is its description.
 * @throws Error if another table has that name
 */
export function wordEnum<T extends string>(table: Words<T>): Readonly<Record<T, T>> {
  const { graph } = table;
  const known = made.get(graph) ?? { table, shown: graphEnum(table) };
  if (known.table !== table) throw new Error(`two tables of words are called ${graph}`);
  made.set(graph, known);
  return known.shown as Readonly<Record<T, T>>;
}

function graphEnum({ graph, description, meanings }: Words): Readonly<Record<string, string>> {
  const words = Object.entries(meanings);
  const values = Object.fromEntries(words.map(([word]) => [word, word]));
  const valuesConfig = Object.fromEntries(words.map(([word, meaning]) => [word, { description: meaning }]));
  registerEnumType(values, { name: graph, description, valuesConfig });
  return values;
}
