import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { networkNamed, networks } from '../../../schema/network.ts';
import type { RequestHeaders } from '../../door-request.ts';
import type { Answer } from '../../problem.ts';
import { A2aFault } from './faults.ts';

/* x402 in the metadata of messages, as headers of a door, and back (a2a-x402 §5 and §7; x402, transports-v2/a2a). */

const key = (name: string) => `x402.payment.${name}` as const;

export const paymentStatusOf = (metadata: JsonObject): Json => metadata[key('status')] ?? null;

/** The payment that a message submits; null where it brings none. @throws A2aFault invalid_params */
export function submitted(metadata: JsonObject): JsonObject | null {
  const payload = metadata[key('payload')];
  if (payload === undefined || payload === null) return null;
  const isOfX402 =
    isJsonObject(payload) &&
    (payload.x402Version === 2 || (payload.x402Version === 1 && typeof payload.network === 'string'));
  if (isOfX402) return payload;
  throw new A2aFault('invalid_params', 'It is no payment of x402.', `message.metadata.${key('payload')}`);
}

/** As the header that a door reads; it goes before what came along in one. */
export function withPayment(headers: RequestHeaders, payment: JsonObject | null): RequestHeaders {
  if (payment === null) return headers;
  const { 'payment-signature': _v2, 'x-payment': _v1, ...others } = headers;
  const name = payment.x402Version === 1 ? 'x-payment' : 'payment-signature';
  return { ...others, [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
}

/** x402's extension by which a client names its purchase. */
const IDENTIFIER = 'payment-identifier';

/**
 * The same payment under the name of what it is for, by which it buys that once and is found again; a name that its client
 * has given goes before. The first version of x402 has no room for names: of the offer that it meets it is the second.
 */
export function paymentNamed(payment: JsonObject, name: string, offers: readonly JsonObject[]): JsonObject {
  const extensions = isJsonObject(payment.extensions) ? payment.extensions : {};
  // A client sends back what the offer says of it, which is no name yet.
  const { [IDENTIFIER]: own } = extensions;
  const has_own = isJsonObject(own) && isJsonObject(own.info) && own.info.id !== undefined;
  const named = { extensions: has_own ? extensions : { ...extensions, [IDENTIFIER]: { info: { id: name } } } };
  if (payment.x402Version === 2) return { ...payment, ...named };
  const network = networkNamed(String(payment.network));
  const accepted = network && offers.find(offer => offer.network === networks[network].caip2);
  return accepted ? { x402Version: 2, accepted, payload: payment.payload ?? null, ...named } : payment;
}

/** What a 402 asks for, in the terms of that version of x402. */
export function requiredBy({ headers, body }: Pick<Answer, 'headers' | 'body'>, version: 1 | 2): JsonObject {
  if (version === 1) return JSON.parse(String(body)) as JsonObject;
  return decoded(headers['PAYMENT-REQUIRED']) ?? {};
}

export function offersIn({ accepts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(accepts) ? (accepts as readonly JsonObject[]) : [];
}

/** What a message says that asks for a payment, or says that one did not do. */
export function asking(required: JsonObject, failure: string | null): JsonObject {
  const offer = { [key('required')]: required };
  if (failure === null) return { [key('status')]: 'payment-required', ...offer };
  const network = String(offersIn(required)[0]?.network ?? '');
  return {
    [key('status')]: 'payment-failed',
    [key('error')]: errorCode(failure),
    [key('receipts')]: [{ success: false, errorReason: failure, network, transaction: '' }],
    ...offer,
  };
}

export const declined = (required: JsonObject): JsonObject => ({
  [key('status')]: 'payment-rejected',
  [key('required')]: required,
});

/** What a message says of a payment that has moved; empty where a key stood in for one. */
export function completed(headers: Answer['headers']): JsonObject {
  const receipt = decoded(headers['PAYMENT-RESPONSE'] ?? headers['X-PAYMENT-RESPONSE']);
  return receipt === null ? {} : settledBy(receipt);
}

export const settledBy = (receipt: JsonObject): JsonObject => ({
  [key('status')]: 'payment-completed',
  [key('receipts')]: [receipt],
});

function decoded(header: string | undefined): JsonObject | null {
  if (header === undefined) return null;
  const value: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  return isJsonObject(value) ? (value as JsonObject) : null;
}

/** a2a-x402 §9.1: x402's own words are longer. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/insufficient/, 'INSUFFICIENT_FUNDS'],
  [/signature/, 'INVALID_SIGNATURE'],
  [/valid_before|valid_after|expired/, 'EXPIRED_PAYMENT'],
  [/nonce/, 'DUPLICATE_NONCE'],
  [/network/, 'NETWORK_MISMATCH'],
  [/value|amount/, 'INVALID_AMOUNT'],
];

function errorCode(reason: string): string {
  return codes.find(([pattern]) => pattern.test(reason))?.[1] ?? 'SETTLEMENT_FAILED';
}
