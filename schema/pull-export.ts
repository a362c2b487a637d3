import type { PullFormat, PullSignedNoun } from './book/export-document.ts';
import { canonicalJson, type Json } from './canonical-json.ts';
import { sha256Hex } from './digest.ts';
import type { DocumentOf } from './noun.ts';

/* Signed parts of a published export. The issuer and the verifier share them. */

/** Media type of the signed document, and the bytes that its hash covers. */
export const pullForms: Readonly<Record<PullFormat, { readonly media_type: string; readonly rule: string }>> = {
  json: {
    media_type: 'application/json',
    rule: 'SHA-256 hex over the UTF-8 bytes of the serialized `document` slice: canonical JSON (RFC 8785), as it stands here',
  },
  csv: {
    media_type: 'text/csv',
    rule: 'SHA-256 hex over the UTF-8 bytes of the serialized `document` slice: the text that the string `document` holds',
  },
};

/** SHA-256 in lower-case hex: of the bytes of a text, otherwise of the canonical JSON. */
export function documentHash(document: Json): string {
  return sha256Hex(typeof document === 'string' ? document : canonicalJson(document));
}

/** Members that `issuer_signature` signs, besides the claims of the token (RFC 7519 §4.1). */
export type PullExportPayload = DocumentOf<typeof PullSignedNoun>;

/** Names of the signed members, by which a response is compared with what was signed. */
export const pullSignedMembers = [
  'schema',
  'slug',
  'agent_id',
  'format',
  'exported_at',
  'specimen',
  'document_sha256',
  'csv_sha256',
  'coverage_sha256',
] as const satisfies (keyof PullExportPayload)[];

/** URL of a page of an export, for the owner of the book. */
export function exportUrl(
  base_url: string,
  agent_id: number,
  asked: Readonly<Record<string, string | number | null>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value !== null) query.set(name, String(value));
  return `${base_url}/v1/agents/${agent_id}/book/export?${query}`;
}

/** Public URL of a published export. */
export function pullExportUrl(base_url: string, slug: string): string {
  return `${base_url}/public/export/${slug}`;
}
