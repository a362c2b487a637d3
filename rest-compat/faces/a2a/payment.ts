import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { networkNamed, networks } from '../../../schema/network.ts';
import type { RequestHeaders } from '../../door-request.ts';
import type { Answer } from '../../problem.ts';
import { A2aFault } from './faults.ts';

/* Translates x402 in the metadata of messages to headers of an endpoint, and back (a2a-x402 §5 and §7; x402, transports-v2/a2a). */

const key = (name: string) => `x402.payment.${name}` as const;

export const paymentStatusOf = (metadata: JsonObject): Json => metadata[key('status')] ?? null;

/** The payment in a message. Null if there is none. @throws A2aFault invalid_params */
export function paymentInMetadata(metadata: JsonObject): JsonObject | null {
  const payload = metadata[key('payload')];
  if (payload === undefined || payload === null) return null;
  const isOfX402 =
    isJsonObject(payload) &&
    (payload.x402Version === 2 || (payload.x402Version === 1 && typeof payload.network === 'string'));
  if (isOfX402) return payload;
  throw new A2aFault(
    'invalid_params',
    'The value is not an x402 payment of version 1 or 2.',
    `message.metadata.${key('payload')}`,
  );
}

/** The payment as a header. It takes precedence over a payment header of the request. */
export function withPayment(headers: RequestHeaders, payment: JsonObject | null): RequestHeaders {
  if (payment === null) return headers;
  const { 'payment-signature': _v2, 'x-payment': _v1, ...others } = headers;
  const name = payment.x402Version === 1 ? 'x-payment' : 'payment-signature';
  return { ...others, [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
}

/** The x402 extension by which a client identifies a payment. */
const IDENTIFIER = 'payment-identifier';

/**
 * Adds an identifier to the payment, so that it buys the request once and can be found again. An identifier of the client takes precedence.
 * x402 version 1 has no extensions, so its payment becomes one of version 2 for the same offer.
 */
export function namePayment(payment: JsonObject, name: string, offers: readonly JsonObject[]): JsonObject {
  const extensions = isJsonObject(payment.extensions) ? payment.extensions : {};
  // Clients copy the extension from the offer, where it has no id yet.
  const { [IDENTIFIER]: own } = extensions;
  const has_own = isJsonObject(own) && isJsonObject(own.info) && own.info.id !== undefined;
  const named = { extensions: has_own ? extensions : { ...extensions, [IDENTIFIER]: { info: { id: name } } } };
  if (payment.x402Version === 2) return { ...payment, ...named };
  const network = networkNamed(String(payment.network));
  const accepted = network && offers.find(offer => offer.network === networks[network].caip2);
  return accepted ? { x402Version: 2, accepted, payload: payment.payload ?? null, ...named } : payment;
}

/** The payment requirements of a 402, in the form of that x402 version. */
export function paymentRequirements({ headers, body }: Pick<Answer, 'headers' | 'body'>, version: 1 | 2): JsonObject {
  if (version === 1) return JSON.parse(String(body)) as JsonObject;
  return decodeHeader(headers['PAYMENT-REQUIRED']) ?? {};
}

export function offersIn({ accepts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(accepts) ? (accepts as readonly JsonObject[]) : [];
}

/** Metadata of a message that asks for a payment, or reports a failed one. */
export function paymentRequiredMetadata(required: JsonObject, failure: string | null): JsonObject {
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

export const paymentRejectedMetadata = (required: JsonObject): JsonObject => ({
  [key('status')]: 'payment-rejected',
  [key('required')]: required,
});

/** Metadata of a message about a settled payment. Empty if an API key was used. */
export function settlementMetadata(headers: Answer['headers']): JsonObject {
  const receipt = decodeHeader(headers['PAYMENT-RESPONSE'] ?? headers['X-PAYMENT-RESPONSE']);
  return receipt === null ? {} : paymentCompletedMetadata(receipt);
}

export const paymentCompletedMetadata = (receipt: JsonObject): JsonObject => ({
  [key('status')]: 'payment-completed',
  [key('receipts')]: [receipt],
});

function decodeHeader(header: string | undefined): JsonObject | null {
  if (header === undefined) return null;
  const value: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  return isJsonObject(value) ? (value as JsonObject) : null;
}

/** Codes of a2a-x402 §9.1, by x402's longer reasons. */
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
