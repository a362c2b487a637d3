import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { namesEachOnce } from '../../../schema/json-bounds.ts';

/**
 * The object that a file holds, as every reader would read it (I-JSON, RFC 7493 §2.1 and §2.3, which RFC 8785 §3.1 demands): bytes
 * that are no UTF-8 would be shown in one way and hashed in another, and of two members of one name one reader takes the
 * first and another the last. Null where it holds none.
 */
export function strictJson(bytes: Uint8Array): JsonObject | null {
  const value = strictValue(bytes);
  return isJsonObject(value) ? value : null;
}

/** The same of a list of objects. */
export function strictList(bytes: Uint8Array): readonly JsonObject[] | null {
  const value = strictValue(bytes);
  return Array.isArray(value) && value.every(isJsonObject) ? value : null;
}

function strictValue(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return namesEachOnce(bytes, value) ? value : null;
  } catch {
    return null;
  }
}
