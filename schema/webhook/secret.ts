import { webhookLimits } from '../limits.ts';

/* The secret of a webhook: its spelling, and the bytes of the key (Standard Webhooks 1.0.0). */

const PREFIX = 'whsec_';
/** RFC 4648 section 4, with padding, as the libraries decode it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Beyond ASCII, programs disagree on the bytes of a secret. */
const VISIBLE = /^[!-~]+$/;

export function webhookSecret(random: Uint8Array): string {
  return PREFIX + Buffer.from(random).toString('base64');
}

const { secret_bytes_min, secret_bytes_max, secret_chars_min, secret_chars_max } = webhookLimits;

/** What is wrong with a secret chosen by the caller. Null if it is valid. */
export function secretFault(secret: string): string | null {
  if (!secret.startsWith(PREFIX)) {
    const fits = secret.length >= secret_chars_min && secret.length <= secret_chars_max && VISIBLE.test(secret);
    return fits ? null : `must be ${secret_chars_min} to ${secret_chars_max} visible ASCII characters`;
  }
  const encoded = secret.slice(PREFIX.length);
  const { length } = Buffer.from(encoded, 'base64');
  const fits = BASE64.test(encoded) && length >= secret_bytes_min && length <= secret_bytes_max;
  return fits ? null : `must be ${PREFIX} and the base64 of ${secret_bytes_min} to ${secret_bytes_max} bytes`;
}

/**
 * Key of `webhook-signature`: the decoded bytes of `whsec_`, otherwise the characters themselves (format `raw` of the libraries).
 */
export function standardKey(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}
