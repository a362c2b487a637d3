/** `row_hash` as the graph and entities spell it: `rowHash`. */
export type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

export function camel<S extends string>(key: S): Camel<S>;
export function camel(key: string): string {
  if (!key.includes('_')) return key;
  return key.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
