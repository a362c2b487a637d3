import { registerEnumType } from 'type-graphql';
import type { Words } from '../schema/words.ts';

/**
 * Words of a table as an enum of the graph, each with what it means. Its values are spelled as on the wire, so that REST
 * documents show them as they are. To be called once for each name.
 */
export function graphEnum<T extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<T, string>>,
): Readonly<Record<T, T>> {
  const words = Object.keys(meanings) as T[];
  const values = Object.fromEntries(words.map(word => [word, word])) as Record<T, T>;
  const valuesConfig = Object.fromEntries(words.map(word => [word, { description: meanings[word] }])) as Record<
    T,
    { description: string }
  >;
  registerEnumType(values, { name, description, valuesConfig });
  return values;
}

const made = new Map<string, { readonly table: Words; readonly shown: Readonly<Record<string, string>> }>();

/** The same of words whose table stands in `schema/`: one enum of each table. @throws Error where another table has that name */
export function wordEnum<T extends string>(table: Words<T>): Readonly<Record<T, T>> {
  const { graph, description, meanings } = table;
  const known = made.get(graph) ?? { table, shown: graphEnum<T>(graph, description, meanings) };
  if (known.table !== table) throw new Error(`two tables of words are called ${graph}`);
  made.set(graph, known);
  return known.shown as Readonly<Record<T, T>>;
}
