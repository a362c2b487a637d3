import { z } from 'zod';
import { buyerLimits, INT_MAX, limits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { pageLimit } from './page-limit.ts';

/* Requests about receipts, tasks, refusals, payments, the log, and the issuer's keys. */

const { payment_identifier_chars_min, payment_identifier_chars_max } = limits;
const NAMED_PAYMENT = new RegExp(`^[\\w-]{${payment_identifier_chars_min},${payment_identifier_chars_max}}$`);

const TaskId = z.string().max(limits.id_chars_max);

/** A receipt in a path. */
export const ReceiptPath = z.object({
  task_id: TaskId.describe('Task id of the receipt, as stated in the response to the call.'),
});

/** A task. */
export const TaskQuery = z.strictObject({
  task_id: TaskId.describe('Task id, or the id of the answer, which contains it.'),
});

/** A task, and the requested proof. */
export const ProofRequest = TaskQuery.extend({
  requested: z
    .boolean()
    .default(false)
    .describe(
      `If true, the settlement is shown even if less than ${limits.settlement_proof_gate_atomic} atomic USDC was paid. Default: false.`,
    ),
});

/** A refusal in a path. */
export const RefusalPath = z.object({
  refusal_id: TaskId.describe('Id of the refusal, as stated in the 403 response.'),
});

/**
 * Id of a payment: the EIP-3009 nonce (0x and 64 hex digits), the message hash on Solana (64 hex digits), or the payment-identifier of the
 * client, which may be longer.
 */
export const PaymentId = z.object({
  payment_id: z
    .string()
    .regex(NAMED_PAYMENT, { error: 'is not a nonce, a message hash or a payment identifier' })
    .overwrite(id => (/^(0x)?[0-9a-f]{64}$/i.test(id) ? id.toLowerCase() : id))
    .describe(
      'EIP-3009 nonce (0x and 64 hex digits), SHA-256 of the Solana message (64 hex digits), or payment identifier that the client gave.',
    ),
});

/** The payer, for payment-identifiers that several payers have used. */
export const PaymentPayer = z.object({
  payer: z
    .string()
    .regex(/^(0x[0-9a-f]{40}|[1-9a-hj-np-z]{32,44})$/i, {
      error: 'is not an address: 0x and 40 hex digits on Base, base58 on Solana',
    })
    .optional()
    .describe('Address of the wallet that paid. Required if several payers have used this payment identifier.'),
});

const signed = {
  signed_at: z
    .int()
    .min(0)
    .max(INT_MAX)
    .describe(
      `Time the wallet signed, in Unix seconds. The signature is valid for ${limits.wallet_signature_age_seconds_max} seconds.`,
    ),
  signature: z
    .string()
    .max(limits.wallet_signature_chars_max)
    .describe(`Signature of the wallet over ${textForm('receipts')}: personal_sign, ERC-1271 or ERC-6492.`),
};

const page = {
  after: z
    .int()
    .min(-1)
    .max(INT_MAX)
    .optional()
    .describe(
      'Returns only receipts whose leaf index is greater than this: `next` of the previous page. Default: from the first.',
    ),
  limit: pageLimit({
    of: 'receipts',
    default: buyerLimits.receipts_page_default,
    max: buyerLimits.receipts_page_max,
    beyond: 'refused',
  }),
};

/** Proof of the wallet, and page of its receipts. */
export const WalletReceiptsRequest = z.strictObject({ ...signed, ...page });

/** Proof that a request comes from a wallet. */
export const WalletProofRequest = z.strictObject({
  wallet: z.string().describe('Address of the wallet on Base (0x and 40 hex digits).'),
  ...signed,
});

/** The proof as one member. */
export const WalletProofMember = z.object({
  proof: WalletProofRequest.describe('Wallet, signature and time: proof that the request comes from the wallet.'),
});

/** Page of the receipts. */
export const WalletReceiptsPage = z.strictObject(page);

const Size = z.int().min(1).max(INT_MAX);

export const CheckpointRequest = z.strictObject({
  tree_size: Size.optional().describe(
    'Number of leaves of a tree whose head was signed. Default: that of the newest tree.',
  ),
});

const TilePath = z
  .string()
  .max(limits.tile_path_chars_max)
  .describe(
    'Index of the tile, from 0, in groups of three digits, all but the last after an x; of a partial tile also `.p/` and its width: `000`, `x001/067`, `000.p/12`.',
  );

/** A tile of hashes in a path. */
export const TileRequest = z.object({
  level: z.string().max(limits.tile_level_chars_max).describe('Level of the tile, from 0 (the leaves) to 63.'),
  path: TilePath,
});

/** A bundle of entries in a path. */
export const BundleRequest = z.object({ path: TilePath });

export const InclusionRequest = z.strictObject({
  task_id: ReceiptPath.shape.task_id,
  tree_size: Size.optional().describe(
    'Number of leaves of the tree that the proof is for. Default: that of the newest tree head.',
  ),
});

export const ConsistencyRequest = z.strictObject({
  from: Size.describe('Number of leaves of the smaller tree, at most `to`.'),
  to: Size.describe('Number of leaves of the larger tree, at most that of the newest tree head.'),
});

/** A snapshot of the issuer's keys. */
export const IssuerSnapshotRequest = z.strictObject({
  version: z
    .int()
    .min(1)
    .max(INT_MAX)
    .optional()
    .describe('Number of the snapshot, from 1. Default: any; without `hash` too, the current snapshot.'),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('SHA-256 of the snapshot, in hex. Default: any; without `version` too, the current snapshot.'),
});

/** The row up to which the total of a book is proven. */
export const BookTotalRequest = z.strictObject({
  task_id: z
    .string()
    .min(1)
    .max(limits.id_chars_max)
    .optional()
    .describe('Task id of a row. The answer then proves that the row is in the total. Default: none.'),
});
