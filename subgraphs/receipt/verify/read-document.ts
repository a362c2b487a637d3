import type { JsonObject } from '../../../schema/canonical-json.ts';
import { isLogBreak, logBreaksOf } from './beside-receipts/log-break.ts';
import { strictJson, strictList } from './strict-json.ts';

/** As PAYMENT-REQUIRED, PAYMENT-RESPONSE and X-SVC-Delegation carry JSON: in either alphabet. */
const IN_BASE64 = /^[\w+/-]{16,}={0,2}$/;

/** The document that a file or a header holds: a JSON object, a list of breaks of the log, or JSON in base64; null where it is none. */
export function documentFrom(bytes: Uint8Array): JsonObject | null {
  const object = strictJson(bytes);
  if (object) return object;
  const list = strictList(bytes) ?? [];
  if (list.length > 0 && list.every(isLogBreak)) return logBreaksOf(list);
  const text = Buffer.from(bytes).toString().trim();
  return IN_BASE64.test(text) ? strictJson(Buffer.from(text, 'base64')) : null;
}

/** How names of files end that hold documents: a directory and the page for browsers take the same. */
export const documentEndings = ['.json', '.cose', '.scitt', '.jwt', '.zip', '.txt', '.note', '.tlog-proof'] as const;
