import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode } from '../../schema/errors.ts';

/** What came of reading a body. */
export type Body =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail?: string };

export const tooLarge: Body = { kind: 'refused', code: 'request_too_large' };

export function malformed(detail: string): Body {
  return { kind: 'refused', code: 'invalid_request', detail };
}

/** Nobody is there any more to be told. */
export const brokenOff = () => new Error('the request broke off');
