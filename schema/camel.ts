/* Converts names between snake_case on the wire and camelCase on the graph. */

/** `row_hash` becomes `rowHash`, as the graph and entities spell it. */
export type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

export function camel<S extends string>(key: S): Camel<S>;
export function camel(key: string): string {
  if (!key.includes('_')) return key;
  return key.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Members that the specification spells in camelCase, so that both sides have the same name. */
const CAMEL_ON_THE_WIRE: readonly string[] = ['agentWallet', 'payTo', 'lastStatus', 'lastError'];

export function snake(key: string): string {
  if (!/[A-Z]/.test(key) || CAMEL_ON_THE_WIRE.includes(key)) return key;
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

export function toCamelKeys(value: unknown): unknown {
  return rename(value, camel);
}

export function toSnakeKeys(value: unknown): unknown {
  return rename(value, snake);
}

/** A null argument is the same as an absent one. */
export function withoutNull(given: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
}

/** Undefined members are left out, because neither GraphQL nor JSON has them. */
function rename(value: unknown, spell: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => rename(item, spell));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push([spell(key), rename(member, spell)]);
  }
  // An assignment would fail for a member `__proto__`.
  return Object.fromEntries(members);
}
