import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';

/**
 * The object that a file holds, as every reader would read it (I-JSON, RFC 7493 §2.1 and §2.3, which RFC 8785 §3.1 demands): bytes
 * that are no UTF-8 would be shown in one way and hashed in another, and of two members of one name one reader takes the
 * first and another the last. Null where it holds none.
 */
export function strictJson(bytes: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && membersOf(value) === membersWritten(text) ? value : null;
  } catch {
    return null;
  }
}

/** How many members its text names, at any depth: of text that is JSON each colon outside of a string belongs to one. */
function membersWritten(text: string): number {
  let [members, quoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    else if (sign === '\\') at++;
    else if (sign === ':' && !quoted) members++;
  }
  return members;
}

/** How many of them a reader is left with. Without recursion: a stranger's document may be as deep as it is long. */
function membersOf(value: JsonObject): number {
  let members = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    if (!Array.isArray(next)) members += inner.length;
    for (const each of inner) open.push(each);
  }
  return members;
}
