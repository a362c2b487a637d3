import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { OpenLog } from '../../../subgraphs/receipt/log/head.ts';
import { receiptDocument } from '../../../subgraphs/receipt/receipt/document.ts';
import { placeReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { waivedCall } from '../vectors/receipt-facts.ts';

export const base_url = 'https://svc.example';
export const collected_at_ms = Date.parse('2026-01-02T03:04:06.000Z');
const now_ms = () => collected_at_ms;
export const issuer = openIssuer(['22'.repeat(32)], { base_url, now_ms });
export const otherIssuer = openIssuer(['33'.repeat(32)], { base_url, now_ms });

/** A public receipt, which is the second leaf of its log. */
export async function issue(facts: ReceiptFacts, book_seq: number | null = 1, by = issuer): Promise<JsonObject> {
  const log = new OpenLog(0, [], collected_at_ms);
  log.append(prepareReceipt(by, waivedCall).leaf_hash);
  const receipt = placeReceipt({ prepared: prepareReceipt(by, facts), book_seq }, log, by);
  return receiptDocument(receipt, base_url, facts.profile);
}

/** Every path to a value inside a document. */
export function paths(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) => paths(member, [...path, key]));
}

export function alter(value: Json, [key, ...rest]: readonly string[], change: (old: Json) => Json): Json {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, index) => (`${index}` === key ? alter(item, rest, change) : item));
  if (!isJsonObject(value)) return value;
  return { ...value, [key]: alter(value[key] ?? null, rest, change) };
}
