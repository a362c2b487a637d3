import { isValidPaymentId, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { type NetworkName, networkNamed } from '../../schema/network.ts';
import { wellFormedText } from '../../schema/requests/text.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';

/* Parses a payment as an x402 client sends it, with the identifier by which a client may name its purchase. */

/** Extension in a 402 that permits a client to name its purchase. Its specification defines the format. */
export const identifierDeclared = { [PAYMENT_IDENTIFIER]: { info: { required: false }, schema: {} } };

/**
 * Reads the identifier, the only extension that is read from a client's payment. An invalid one makes the payment malformed, because
 * without it a purchase could be charged twice. The schema beside it comes from the client and is never compiled, as the package's own
 * validation would do.
 */
const identified = z
  .object({
    [PAYMENT_IDENTIFIER]: z
      .object({ info: z.object({ id: z.string().refine(isValidPaymentId).optional() }) })
      .nullish(),
  })
  .nullish()
  .transform(extensions => extensions?.[PAYMENT_IDENTIFIER]?.info.id ?? null);

/** The extensions of a payment that are read, in the form in which they were sent. */
function keptExtensions(identifier: string | null): JsonObject {
  return identifier === null ? {} : { extensions: { [PAYMENT_IDENTIFIER]: { info: { id: identifier } } } };
}

/** Shapes of x402 v1 and v2 payments. Unknown members are dropped, so that only members that are read are stored. */
const hexOf = (digits: number) => z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`));
const address = hexOf(40);
/** uint256 as a decimal string. Some clients send small values as numbers. */
const uint = z
  .union([z.string().regex(/^(0|[1-9][0-9]{0,77})$/), z.int().nonnegative()])
  .transform(value => String(value));
const text = wellFormedText.max(limits.payment_name_chars_max);
const name = text.min(1);

const authorization = z.object({
  from: address,
  to: address,
  value: uint,
  validAfter: uint,
  validBefore: uint,
  nonce: hexOf(64),
});
/** An EIP-3009 authorization and its signature. Signatures of contract wallets (ERC-1271, ERC-6492) can have any length. */
const exactEvmPayload = z.object({
  signature: z
    .string()
    .max(limits.wallet_signature_chars_max, { abort: true })
    .regex(/^0x([0-9a-fA-F]{2})+$/),
  authorization,
});
export type ExactEvmPayload = z.infer<typeof exactEvmPayload>;

/** A whole transaction of at most 1,232 bytes, signed by its payer, in base64. */
const exactSvmPayload = z.object({ transaction: z.string().regex(/^[A-Za-z0-9+/]{4,1644}={0,2}$/) });
export type ExactSvmPayload = z.infer<typeof exactSvmPayload>;
export type ExactPayload = ExactEvmPayload | ExactSvmPayload;

const terms = z.object({
  scheme: name,
  network: name,
  amount: uint,
  asset: name,
  payTo: name,
  maxTimeoutSeconds: z.number(),
  extra: z
    .object({ name: text.optional(), version: text.optional(), feePayer: text.optional() })
    .nullish()
    // Only members that are compared are kept. A missing one must stay missing, because undefined cannot be hashed.
    .transform(extra => ({
      ...(extra?.name && { name: extra.name }),
      ...(extra?.version && { version: extra.version }),
      ...(extra?.feePayer && { feePayer: extra.feePayer }),
    })),
});
export type AcceptedTerms = z.infer<typeof terms>;

const envelopes = {
  1: z.object({ x402Version: z.literal(1), scheme: name, network: name, payload: z.unknown() }),
  2: z.object({ x402Version: z.literal(2), accepted: terms, payload: z.unknown(), extensions: identified }),
};

/** Shape of the payload on each network. The payload of an unknown network is not read, because the network is refused later. */
const payloads: Record<NetworkName, z.ZodType<ExactPayload>> = { base: exactEvmPayload, solana: exactSvmPayload };

export interface Envelope {
  readonly scheme: string;
  /** Network of the payment. Null if its name is unknown. */
  readonly network: NetworkName | null;
  /** The accepted offer, which a payment of v2 names. Null for v1. */
  readonly accepted: AcceptedTerms | null;
  readonly payload: ExactPayload | null;
  /** Name of the purchase, from the payment-identifier extension of v2. Null if it has none. */
  readonly identifier: string | null;
  /** The payment as JSON, without unknown members. */
  readonly kept: JsonObject;
}

/** Parsed payments by their `kept` object, so that a payment that was parsed at admission need not be parsed again at the charge. */
const read = new WeakMap<object, Envelope>();

/** Returns a parsed payment. It is parsed again only if it came from another process. Null if it is malformed. */
export function readEnvelope({ x402_version, envelope }: PresentedPayment): Envelope | null {
  const known = read.get(envelope);
  if (known?.kept.x402Version === x402_version) return known;
  const parsed = parseEnvelope(x402_version, envelope);
  return parsed.kind === 'read' ? parsed.envelope : null;
}

/** Result of parsing. `why`: the member that is invalid, and what is wrong with it. */
type ParsedEnvelope =
  | { readonly kind: 'read'; readonly envelope: Envelope }
  | { readonly kind: 'malformed'; readonly why: string };

/** Parses a payment and checks its shape. The result contains copies, not parts of the input. */
export function parseEnvelope(version: 1 | 2, untrusted: unknown): ParsedEnvelope {
  const parsed = envelopes[version].safeParse(untrusted);
  if (!parsed.success) return { kind: 'malformed', why: faultOf(parsed.error) };
  const accepted = 'accepted' in parsed.data ? parsed.data.accepted : null;
  const { scheme, network: named } = 'accepted' in parsed.data ? parsed.data.accepted : parsed.data;
  const network = networkNamed(named);
  const shape = network && payloads[network];
  const payload = shape?.safeParse(parsed.data.payload);
  if (payload?.success === false) return { kind: 'malformed', why: faultOf(payload.error, 'payload') };
  const data = payload?.data ?? null;
  const identifier = 'extensions' in parsed.data ? parsed.data.extensions : null;
  const offer: JsonObject = accepted === null ? { scheme, network: named } : { accepted };
  const kept = { x402Version: version, ...offer, payload: data, ...keptExtensions(identifier) };
  const envelope: Envelope = { scheme, network, accepted, payload: data, identifier, kept };
  read.set(kept, envelope);
  return { kind: 'read', envelope };
}

/** Text of the first fault. The invalid value is not included, because it may be a signature. */
function faultOf({ issues }: z.ZodError, within?: string): string {
  const path = [...(within === undefined ? [] : [within]), ...(issues[0]?.path ?? [])].map(String).join('.');
  return path === '' ? 'the header is not a JSON object' : `${path} is missing or not valid`;
}
