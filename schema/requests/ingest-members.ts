import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { digestKindWords } from '../escrow.ts';
import { jobKindWords } from '../job-kind.ts';
import { foreignNameLimits, ingestLimits, limits } from '../limits.ts';
import { word } from '../noun.ts';
import { commitmentStatuses } from '../receipt-payload.ts';
import { AttemptIndex } from './paid-work.ts';
import { storedText, wellFormedText } from './text.ts';

/* The three forms of a payment to another service, as a request may have them. */

const text = (chars_max: number) => storedText.min(1).max(chars_max);
const Wallet = text(foreignNameLimits.address_chars_max);
const Transaction = text(foreignNameLimits.transaction_chars_max);
const Network = text(foreignNameLimits.network_chars_max);
const DIGITS = 'must be a string of digits (atomic units) other than 0';
const Amount = z
  .string({ error: DIGITS })
  .refine(given => given !== '0' && parseAtomic(given) !== null, { error: DIGITS })
  .meta({ scalar: 'AtomicAmount' });
const Usdc = Amount.describe('Amount in atomic USDC.');
/** `other` is the member that may name the network too. */
const networkOr = (other: string) =>
  `Network of the payment: \`base\` or \`solana\`, or its CAIP-2 id. Default: that of \`${other}\`, or \`base\`.`;
const Asset = text(foreignNameLimits.address_chars_max)
  .nullish()
  .describe('Token that was paid: the contract or mint of USDC, or its name. Default: USDC.');

/** A cemented send block of XNO. */
export const NanoSend = z.strictObject({
  block: text(foreignNameLimits.block_chars_max).describe('Hash of the send block on Nano: 64 hex digits.'),
  recipient: Wallet.describe('Nano account that received the XNO: nano_ and 60 letters and digits.'),
  amount: Amount.describe('Amount in raw: 10^30 raw are one XNO.'),
  description: text(ingestLimits.description_chars_max).describe(
    `What the payment was for: up to ${ingestLimits.description_chars_max} characters.`,
  ),
});

/** Payment requirements of another service. Further members of x402 are ignored. */
export const ForeignOffer = z.object({
  resource: text(ingestLimits.resource_chars_max).describe('URL or name of what was bought.'),
  amount: Usdc,
  payTo: Wallet.describe('Wallet that was paid.'),
  network: Network.nullish().describe(networkOr('payment_response')),
  asset: Asset,
});

/** Settlement response of another service. */
export const ForeignSettlement = z.object({
  tx: Transaction.nullish().describe('Id of the transaction that paid. Send either this or `transaction`.'),
  transaction: Transaction.nullish().describe('Another name of `tx`. Send either this or `tx`.'),
  payer: Wallet.nullish().describe(
    'Address of the wallet that paid. Required, because a transaction alone does not prove who paid.',
  ),
  network: Network.nullish().describe(
    'Network of the payment. If `payment_required` has a network too, both must be the same. Default: that network, or `base`.',
  ),
  success: z.boolean().nullish().describe('Whether the payment succeeded. False is refused. Default: true.'),
});
export type ForeignSettlement = z.output<typeof ForeignSettlement>;

const Hash = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 64 hex digits, optionally after 0x' })
  .transform(hash => hash.replace(/^0x/, '').toLowerCase());
const Kind = word(digestKindWords);

/** A commitment, or the reason that there is none, in the form of a row's fulfillment. */
export const ForeignCommitment = z.strictObject({
  status: word(commitmentStatuses)
    .nullish()
    .describe(
      'Whether a hash is committed: `committed` or `UNVERIFIED`. Default: `committed` if there is a hash, otherwise `UNVERIFIED`.',
    ),
  hash: Hash.nullish().describe(
    'Hash of what was delivered: 32 bytes in hex. Required if `status` is `committed`. Default: none.',
  ),
  kind: Kind.nullish().describe('Hash function of `hash`. Required with it.'),
  omission_rule: text(ingestLimits.omission_rule_chars_max)
    .nullish()
    .describe(
      `Reason why there is no hash: any text of 1 to ${ingestLimits.omission_rule_chars_max} characters. Only allowed without \`hash\`. Default: \`no_deliverable\`.`,
    ),
});

/** A commitment as an object or as text. */
export const StatedCommitment = z.union([ForeignCommitment, text(ingestLimits.commitment_chars_max)]);

/** An invoice of the party that was paid. */
export const ForeignInvoice = z.strictObject({
  amount: Usdc,
  payer: Wallet.describe('Wallet that paid.'),
  payTo: Wallet.describe('Wallet that was paid.'),
  tx: Transaction.nullish().describe(
    'Transaction: 0x and 64 hex digits on Base, a signature in base58 on Solana. Send either this or `payment_ref`.',
  ),
  payment_ref: Transaction.nullish().describe(
    'Payment as `network:transaction`, or the transaction alone. Send either this or `tx`.',
  ),
  network: Network.nullish().describe(networkOr('payment_ref')),
  asset: Asset,
  resource: text(ingestLimits.resource_chars_max).nullish().describe('URL or name of what was bought. Default: none.'),
  service_url: text(ingestLimits.resource_chars_max).nullish().describe('Another name of `resource`. Default: none.'),
  hub: text(ingestLimits.hub_chars_max)
    .nullish()
    .describe(
      'Name of the hub that served the call. Default: the host of `resource`, if that is a URL, otherwise none.',
    ),
  model: text(ingestLimits.model_chars_max)
    .nullish()
    .describe('Model that was bought, or path of the resource. Default: none.'),
  job_kind: word(jobKindWords).nullish().describe('Kind of work that was paid for. Default: `other`.'),
  deliverable: wellFormedText
    .max(ingestLimits.request_bytes_max)
    .nullish()
    .describe('The whole text that was delivered. Only its SHA-256 (of UTF-8) is stored. Default: none.'),
  deliverable_hash: Hash.nullish().describe(
    'Hash of what was delivered: 32 bytes in hex. Requires `deliverable_kind`. Default: none.',
  ),
  deliverable_kind: Kind.nullish().describe('Hash function of `deliverable_hash`. Required with it.'),
  output_commitment: StatedCommitment.nullish().describe(
    'Hash of what was delivered: an object, or by REST also text such as `sha256:<hex>`. Default: none.',
  ),
  omit_deliverable: z
    .boolean()
    .nullish()
    .describe(
      'If true, no hash is recorded: the status is UNVERIFIED. Refused beside `deliverable` or a hash. Default: false.',
    ),
  intent_id: text(limits.intent_id_chars_max)
    .nullish()
    .describe('Id of an intent, which groups attempts at the same work. Default: none.'),
  attempt_index: AttemptIndex.nullish().describe('Number of the attempt at the intent, from 0. Default: none.'),
});
export type ForeignInvoice = z.output<typeof ForeignInvoice>;
