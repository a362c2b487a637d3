import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { namesEachOnce } from '../../../schema/json-bounds.ts';
import { logBreaksOf } from './beside-receipts/log-break.ts';

/** Base64 in either alphabet: PAYMENT-REQUIRED, PAYMENT-RESPONSE and X-SVC-Delegation contain JSON in this form. */
const IN_BASE64 = /^[\w+/-]{16,}={0,2}$/;

/** The document in a file or a header: a JSON object, a list of breaks of the log, or JSON in base64; null for anything else. */
export function documentFrom(bytes: Uint8Array): JsonObject | null {
  const object = strictJson(bytes);
  if (object) return object;
  const list = strictList(bytes) ?? [];
  if (list.length > 0 && list.every(({ schema }) => schema === documents.log_break)) return logBreaksOf(list);
  const text = Buffer.from(bytes).toString().trim();
  return IN_BASE64.test(text) ? strictJson(Buffer.from(text, 'base64')) : null;
}

/** Endings of the names of files with documents. `npm run verify` on a directory and the page for browsers accept the same ones. */
export const documentEndings = ['.json', '.cose', '.scitt', '.jwt', '.zip', '.txt', '.note', '.tlog-proof'] as const;

/**
 * The JSON object in a file. Null for anything else, and for an object that two readers could read differently (I-JSON, RFC 7493 §2.1 and
 * §2.3, which RFC 8785 §3.1 demands). Bytes that are not UTF-8 would be shown in one way and hashed in another. Of two members with one
 * name, one reader takes the first and another takes the last.
 */
export function strictJson(bytes: Uint8Array): JsonObject | null {
  const value = strictValue(bytes);
  return isJsonObject(value) ? value : null;
}

/** The list of JSON objects in a file, as strictly as in `strictJson`; null for anything else. */
function strictList(bytes: Uint8Array): readonly JsonObject[] | null {
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
