import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { RequestHeaders } from '../../door-request.ts';
import { memberOf } from './json-rpc.ts';

/* x402 over MCP: headers of HTTP become members of `_meta` (x402, specs/transports-v2/mcp.md). */

const PAYMENT = 'x402/payment';
const PAYMENT_RESPONSE = 'x402/payment-response';
/** For clients with this extension a price is a result of its own kind, not an error. */
export const PAYMENT_EXTENSION = 'org.x402/payment';

export function pays(meta: JsonObject): boolean {
  return meta[PAYMENT] !== undefined;
}

/** The payment as a header, by the name of its x402 version. An invalid payment is refused as in a header. */
export function paymentHeader(meta: JsonObject): RequestHeaders {
  const payment = meta[PAYMENT];
  if (payment === undefined) return {};
  const header = Buffer.from(JSON.stringify(payment)).toString('base64');
  return memberOf(payment, 'x402Version') === 1 ? { 'x-payment': header } : { 'payment-signature': header };
}

type Headers = Readonly<Record<string, string>>;

/** Headers about payment and call as members of `_meta`. Null if there are none. */
export function answerMeta(headers: Headers): JsonObject | null {
  const settled = decodeHeader(headerOf(headers, 'payment-response') ?? headerOf(headers, 'x-payment-response'));
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

/** The payment requirements of a 402, in x402 v2, as JSON text. */
export function requiredText(headers: Headers): string | null {
  const header = headerOf(headers, 'payment-required');
  return header === undefined ? null : Buffer.from(header, 'base64').toString();
}

function headerOf(headers: Headers, name: string): string | undefined {
  return Object.entries(headers).find(([known]) => known.toLowerCase() === name)?.[1];
}

function decodeHeader(header: string | undefined): Json | null {
  return header === undefined ? null : (JSON.parse(Buffer.from(header, 'base64').toString()) as Json);
}
