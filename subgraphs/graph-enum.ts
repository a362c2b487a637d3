import { registerEnumType } from 'type-graphql';

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
