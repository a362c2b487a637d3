import type { SettleResponse } from '@x402/core/types';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { namesEachOnce, repeatedName } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';
import { type NetworkName, networks } from '../../schema/network.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';
import { parseEnvelope } from './envelope.ts';

export type DecodedPayment =
  | { readonly kind: 'decoded'; readonly payment: PresentedPayment }
  /** `why`: a sentence that names the header, the version and the member. */
  | { readonly kind: 'malformed'; readonly why: string };

/** Header name of each version, for error messages. */
const headerNames = { 1: 'X-PAYMENT', 2: 'PAYMENT-SIGNATURE' } as const;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Decodes PAYMENT-SIGNATURE (v2) or X-PAYMENT (v1), which is JSON in base64. Only the shape is checked; nothing is trusted yet. */
export function decodePayment(version: 1 | 2, header: string): DecodedPayment {
  const malformed = (what: string): DecodedPayment => {
    return { kind: 'malformed', why: `${headerNames[version]} (x402 version ${version}): ${what}.` };
  };
  const { payment_header_bytes_max: bytes_max } = limits;
  if (header.length > bytes_max) return malformed(`the header is longer than ${bytes_max} bytes`);
  const decoded = Buffer.from(header, 'base64');
  if (!isBase64(header, decoded)) return malformed('the header is not base64');
  let untrusted: unknown;
  try {
    untrusted = JSON.parse(decoded.toString('utf8'));
  } catch {
    return malformed('the header is not the base64 of JSON');
  }
  if (!namesEachOnce(decoded, untrusted))
    return malformed(`${repeatedName(decoded)?.slice(0, 64)} is named twice in one object`);
  const envelope = parseEnvelope(version, untrusted);
  if (envelope.kind === 'malformed') return malformed(envelope.why);
  return { kind: 'decoded', payment: { x402_version: version, envelope: envelope.envelope.kept } };
}

/**
 * Whether a header is base64. Node's decoder ignores characters outside the alphabet, so it does not show that. Comparing with Node's own
 * encoding is faster than the pattern, and succeeds for most headers.
 */
function isBase64(header: string, decoded: Buffer): boolean {
  return decoded.toString('base64') === header || BASE64.test(header);
}

export interface SettlementAnswer {
  readonly success: boolean;
  /** Transaction hash. Empty if no transaction is on the chain. */
  readonly transaction: string;
  readonly network: NetworkName;
  readonly payer: string;
  /** Index of the transfer in its transaction. Undefined if it was not observed. */
  readonly transfer_index?: number | undefined;
  /** Reason of x402, such as `settlement_pending`. Set only if the payment was not successful. */
  readonly error_reason?: string;
  /** Extensions of the response, which only v2 has. */
  readonly extensions?: JsonObject;
}

/** Header with the result of the payment: PAYMENT-RESPONSE (v2) or X-PAYMENT-RESPONSE (v1). */
export function settlementHeaders(version: 1 | 2, answer: SettlementAnswer): Record<string, string> {
  const { success, transaction, payer, error_reason, transfer_index } = answer;
  const { name, caip2 } = networks[answer.network];
  // v1 uses names of networks and v2 uses CAIP-2 ids. The encoder's type permits only the latter.
  const network = (version === 1 ? name : caip2) as SettleResponse['network'];
  // x402 does not define this member. Readers of both versions ignore unknown members.
  const index = transfer_index === undefined ? {} : { transfer_index };
  const response: SettleResponse = { success, transaction, network, payer, ...index };
  if (error_reason !== undefined) response.errorReason = error_reason;
  if (version === 2 && answer.extensions) response.extensions = answer.extensions;
  const encoded = Buffer.from(JSON.stringify(response)).toString('base64');
  return { [version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE']: encoded };
}

/** The payment of a request to /graphql. Null if it has none. @throws Refusal invalid_payment */
export function presentedIn(shown: { x402_version: 1 | 2; header: string } | null): PresentedPayment | null {
  if (shown === null) return null;
  const decoded = decodePayment(shown.x402_version, shown.header);
  if (decoded.kind === 'malformed') throw new Refusal('invalid_payment', { detail: decoded.why });
  return decoded.payment;
}
