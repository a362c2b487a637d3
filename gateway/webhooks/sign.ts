import { createHmac } from 'node:crypto';
import { standardKey } from '../../schema/webhook/secret.ts';

/**
 * Headers by which a receiver knows that a message is ours: those of Standard Webhooks 1.0.0, with a signature for each
 * secret that signs, and X-SVC-Signature over the body alone, by the characters of the secret as they were shown.
 */
export function signatureHeaders(
  id: string,
  at_ms: number,
  body: string,
  [secret, ...old]: readonly string[],
): Readonly<Record<string, string>> {
  if (secret === undefined) throw new Error('a webhook without a secret');
  const seconds = Math.floor(at_ms / 1_000);
  const standard = (key: string) =>
    `v1,${createHmac('sha256', standardKey(key)).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  const plain = (key: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [secret, ...old].map(standard).join(' '),
    'x-svc-signature': plain(secret),
    ...(old[0] === undefined ? {} : { 'x-svc-signature-previous': old.map(plain).join(',') }),
  };
}
