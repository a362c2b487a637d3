import type { Json, JsonObject } from '../schema/canonical-json.ts';
import { isJsonObject } from '../schema/canonical-json.ts';
import type { Columns } from './door.ts';
import type { DoorRequest } from './door-request.ts';
import { prefers } from './http/accept.ts';
import type { Answer } from './problem.ts';

const PROBLEM = 'application/problem+json';

/** The error as a page, if the request asked for a page. Otherwise null. */
export function faultPage(
  { fault_page, path, media }: Pick<Columns, 'fault_page' | 'path' | 'media'>,
  request: Pick<DoorRequest, 'query' | 'headers' | 'called_path'>,
  { headers, body }: { readonly headers: Answer['headers']; readonly body: unknown },
): (Pick<Answer, 'headers'> & { readonly body: string }) | null {
  if (fault_page === null || typeof body !== 'string' || !headers['content-type']?.startsWith(PROBLEM)) return null;
  if (!asksForPage(request, { path, media, page: fault_page.media })) return null;
  const { code, detail } = JSON.parse(body) as JsonObject;
  return {
    headers: { ...headers, ...fault_page.headers, 'content-type': fault_page.media },
    body: fault_page.textOf({ code: String(code), detail: String(detail) }),
  };
}

/** Chosen by `format` in the query or, at the door's own path, by Accept. Any other `format` is a choice against the page. */
function asksForPage(
  { query, headers, called_path }: Pick<DoorRequest, 'query' | 'headers' | 'called_path'>,
  { path, media, page }: { readonly path: string; readonly media: string; readonly page: string },
): boolean {
  const { format } = isJsonObject(query as Json) ? (query as JsonObject) : {};
  if (format !== undefined) return format === 'html';
  return (called_path ?? path) === path && prefers(headers.accept, page, media);
}
