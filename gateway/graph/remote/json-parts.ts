import { Written } from '../../../schema/written.ts';

/** A part of an answer that was JSON text before it was sent: where it stands, and that text. */
export interface Lifted {
  readonly path: readonly string[];
  readonly text: string;
}

/** The data without what is Written in it, and that beside it. */
export function liftWritten(data: unknown): { readonly bare: unknown; readonly lifted: readonly Lifted[] } {
  const lifted: Lifted[] = [];
  const lift = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Written) {
      lifted.push({ path, text: value.text });
      return null;
    }
    // Lists are never gone into: what is written stands in objects alone.
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lift(member, [...path, name])]));
  };
  return { bare: lift(data, []), lifted };
}

/** False where one of them has no place in `data`. */
export function putBack(data: unknown, lifted: readonly Lifted[]): boolean {
  return lifted.every(({ path, text }) => {
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
