import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { digestKinds } from '../escrow.ts';
import { jobKinds } from '../job-kind.ts';
import { ingestLimits, limits } from '../limits.ts';
import { AttemptIndex } from './paid-work.ts';
import { storedText, wellFormedText } from './text.ts';

/* The three forms in which a payment to somebody else is named, member by member, as they may come. */

const text = (chars_max: number) => storedText.min(1).max(chars_max);
const Wallet = text(128);
const Transaction = text(160);
const Network = text(64);
const DIGITS = 'is a string of digits (atomic units), and not 0';
const Amount = z
  .string({ error: DIGITS })
  .refine(given => given !== '0' && parseAtomic(given) !== null, { error: DIGITS });
const Usdc = Amount.describe('Atomic USDC.');
const NETWORK = '`base` or `solana`, or its CAIP-2 id; `base` where it is left out.';
const Asset = text(128).nullish().describe('USDC: its contract or mint, or its name.');

/** A cemented send. */
export const NanoSend = z.strictObject({
  block: text(64).describe('Its hash: 64 hex digits.'),
  recipient: Wallet.describe('The account that it was sent to.'),
  amount: Amount.describe('Raw: 10^30 of it are one XNO.'),
  description: text(ingestLimits.description_chars_max).describe('What it was for.'),
});

/** What another shop asked for: members beyond these are x402's own, and are not looked at. */
export const ForeignOffer = z.object({
  resource: text(ingestLimits.resource_chars_max).describe('What was bought.'),
  amount: Usdc,
  payTo: Wallet.describe('Whom it was paid to.'),
  network: Network.nullish().describe(NETWORK),
  asset: Asset,
});

/** What it answered once it was paid. */
export const ForeignSettlement = z.object({
  tx: Transaction.nullish().describe('The transaction.'),
  transaction: Transaction.nullish().describe('The same.'),
  payer: Wallet.nullish().describe('Who paid: without it a transaction alone proves nothing.'),
  network: Network.nullish().describe('As `payment_required` has it.'),
  success: z.boolean().nullish().describe('False is refused.'),
});
export type ForeignSettlement = z.output<typeof ForeignSettlement>;

const Hash = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes in hex' })
  .transform(hash => hash.replace(/^0x/, '').toLowerCase());
const Kind = z.enum(digestKinds);

/** What is committed to, or why nothing is: in the form of a row's fulfillment. */
const Commitment = z.strictObject({
  status: z.enum(['committed', 'UNVERIFIED']).nullish(),
  hash: Hash.nullish(),
  kind: Kind.nullish().describe('Wanted with the hash: it is never read off a 0x.'),
  omission_rule: text(ingestLimits.omission_rule_chars_max).nullish().describe('Why there is no hash.'),
});

/** An invoice of whoever was paid, as whoever paid has it. */
export const ForeignInvoice = z.strictObject({
  amount: Usdc,
  payer: Wallet.describe('Who paid.'),
  payTo: Wallet.describe('Whom it was paid to.'),
  tx: Transaction.nullish().describe('The transaction; this or payment_ref.'),
  payment_ref: Transaction.nullish().describe('`network:transaction`, or the transaction alone.'),
  network: Network.nullish().describe(NETWORK),
  asset: Asset,
  resource: text(ingestLimits.resource_chars_max).nullish().describe('What was bought.'),
  service_url: text(ingestLimits.resource_chars_max).nullish().describe('The same.'),
  hub: text(ingestLimits.hub_chars_max).nullish().describe('Who served it.'),
  model: text(ingestLimits.model_chars_max).nullish().describe('What of it, as its path there.'),
  job_kind: z.enum(jobKinds).nullish().describe('`other` where it is left out.'),
  deliverable: wellFormedText
    .max(ingestLimits.request_bytes_max)
    .nullish()
    .describe('What was delivered, whole: its SHA-256 (of UTF-8) is kept, and nothing else of it.'),
  deliverable_hash: Hash.nullish().describe('Of what was delivered; with its kind.'),
  deliverable_kind: Kind.nullish(),
  output_commitment: z
    .union([Commitment, text(80)])
    .nullish()
    .describe('The same as an object, or as `sha256:<hex>`.'),
  omit_deliverable: z.boolean().nullish().describe('True: nothing is committed to, and that is said (UNVERIFIED).'),
  intent_id: text(limits.intent_id_chars_max).nullish().describe('Groups attempts under one treasury intent bill.'),
  attempt_index: AttemptIndex.nullish().describe('Zero-based attempt within intent_id.'),
});
export type ForeignInvoice = z.output<typeof ForeignInvoice>;
