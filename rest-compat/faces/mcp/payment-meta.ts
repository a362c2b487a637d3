import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { RequestHeaders } from '../../door-request.ts';
import { memberOf } from './json-rpc.ts';

/* x402 over MCP: what travels in headers elsewhere travels in `_meta` (x402, specs/transports-v2/mcp.md). */

const PAYMENT = 'x402/payment';
const PAYMENT_RESPONSE = 'x402/payment-response';
/** Whoever knows it is told of a price by a result of its own, in place of an error. */
export const PAYMENT_EXTENSION = 'org.x402/payment';

export function pays(meta: JsonObject): boolean {
  return meta[PAYMENT] !== undefined;
}

/** The payment as its header; of v1 by that version's name. What is no payment is judged to be none, as in a header. */
export function paymentHeader(meta: JsonObject): RequestHeaders {
  const payment = meta[PAYMENT];
  if (payment === undefined) return {};
  const header = Buffer.from(JSON.stringify(payment)).toString('base64');
  return memberOf(payment, 'x402Version') === 1 ? { 'x-payment': header } : { 'payment-signature': header };
}

type Headers = Readonly<Record<string, string>>;

/** What an answer's headers say of the payment and the call, as members of `_meta`; null where that is nothing. */
export function answerMeta(headers: Headers): JsonObject | null {
  const settled = decoded(headerOf(headers, 'payment-response') ?? headerOf(headers, 'x-payment-response'));
  const facts = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(
      ([name]) => name.startsWith('x-svc-') || name === 'retry-after' || name === 'x-should-retry' || name === 'link',
    );
  if (settled === null && facts.length === 0) return null;
  return {
    ...(settled === null ? {} : { [PAYMENT_RESPONSE]: settled }),
    ...(facts.length === 0 ? {} : { 'svc402/headers': Object.fromEntries(facts) }),
  };
}

/** What a 402 asks for, as v2 has it, in JSON text. */
export function requiredText(headers: Headers): string | null {
  const header = headerOf(headers, 'payment-required');
  return header === undefined ? null : Buffer.from(header, 'base64').toString();
}

function headerOf(headers: Headers, name: string): string | undefined {
  return Object.entries(headers).find(([known]) => known.toLowerCase() === name)?.[1];
}

function decoded(header: string | undefined): Json | null {
  return header === undefined ? null : (JSON.parse(Buffer.from(header, 'base64').toString()) as Json);
}
