import { Written } from '../../../schema/written.ts';

/** A part of an answer that was JSON text before it was sent: where it stands, and that text. */
export interface JsonPart {
  readonly path: readonly string[];
  readonly text: string;
}

/** Takes JSON text that is Written out of the data, so that it travels beside it and nobody reads it. */
export function takeParts(data: unknown): { readonly bare: unknown; readonly parts: readonly JsonPart[] } {
  const parts: JsonPart[] = [];
  const take = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Written) {
      parts.push({ path, text: value.text });
      return null;
    }
    // Lists are never gone into: what is written stands in objects alone.
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, take(member, [...path, name])]));
  };
  return { bare: take(data, []), parts };
}

/** False where one of them has no place in `data`. */
export function putParts(data: unknown, parts: readonly JsonPart[]): boolean {
  return parts.every(({ path, text }) => {
    const last = path.at(-1);
    let parent = data;
    for (const name of path.slice(0, -1)) parent = isPlain(parent) ? parent[name] : null;
    if (last === undefined || !isPlain(parent) || !Object.hasOwn(parent, last)) return false;
    parent[last] = new Written(text);
    return true;
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
