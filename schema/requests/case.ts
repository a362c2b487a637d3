/*
 * The wire says snake_case, GraphQL camelCase: one walk each way. `opaque` names members (as they are spelled before the
 * walk) that hold a JSON scalar: what stands in them is the caller's own and keeps its spelling.
 */

/** Members that the specification itself spells in camelCase: they are the same on both sides. */
const CAMEL_ON_THE_WIRE: readonly string[] = ['agentWallet', 'payTo', 'lastStatus', 'lastError'];

export function toSnakeKeys(value: unknown, opaque: readonly string[] = []): unknown {
  const spell = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
  return rename(value, key => (CAMEL_ON_THE_WIRE.includes(key) ? key : spell(key)), opaque);
}

export function toCamelKeys(value: unknown, opaque: readonly string[] = []): unknown {
  return rename(
    value,
    key => key.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    opaque,
  );
}

/** Members that are undefined are left out: to GraphQL and to JSON alike they are not there. */
function rename(value: unknown, spell: (key: string) => string, opaque: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => rename(item, spell, opaque));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [spell(key), opaque.includes(key) ? member : rename(member, spell, opaque)]);
  return Object.fromEntries(members);
}
