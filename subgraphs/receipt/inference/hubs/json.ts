import type { z } from 'zod';

/** A hub is not trusted: its answer is parsed, checked and copied member by member. Null where it is something else. */
export function readJsonAs<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.output<S> | null {
  const value = parsed(bytes);
  return value === NOT_JSON ? null : (schema.safeParse(value).data ?? null);
}

export function isJson(bytes: Uint8Array): boolean {
  return parsed(bytes) !== NOT_JSON;
}

const NOT_JSON = Symbol('not JSON');

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return NOT_JSON;
  }
}
