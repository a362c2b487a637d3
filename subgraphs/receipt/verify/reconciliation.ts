import * as z from 'zod';
import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { networks } from '../../../schema/network.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  noSums,
  RECONCILIATION_RULE_VERSION,
  sumClasses,
  type TransferClass,
  transferClasses,
} from '../../../schema/reconciliation-rule.ts';
import { type OpenedDocument, verifyIssuerDocument } from './issuer-document.ts';
import type { DocumentVerification, Report } from './report.ts';
import { misshapen } from './shape.ts';
import type { Jwks } from './signature.ts';
import { type Rule, unless } from './signed-document.ts';

/**
 * Verifies a reconciliation against a published key set, offline: what was signed, that its transfers stand in the chain's
 * order between its blocks, that each has the class that follows from what is said of it, and that the sums are theirs.
 */
export function verifyReconciliation(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  return verifyIssuerDocument(document, jwks, options, { name: 'reconciliation', rules, reportOn });
}

const text = z.string();
const address = text.regex(/^0x[0-9a-fA-F]{40}$/);
const hash = text.regex(/^0x[0-9a-f]{64}$/);
const digits = text.regex(/^(0|[1-9]\d{0,77})$/);
const count = z.int().min(0);

const TransferShape = z.looseObject({
  block_number: count,
  log_index: count,
  tx_hash: hash,
  payee: address,
  amount: digits,
  class: z.enum(transferClasses),
  used: z.looseObject({ by: z.enum(['receipt', 'ingest']) }).optional(),
});
const ReportShape = z.looseObject({
  schema: z.literal(documents.reconciliation),
  iss: text,
  report_id: text,
  agent_id: z.int(),
  wallet: address,
  chain: z.literal(networks.base.caip2),
  asset: z.literal(networks.base.usdc),
  from_block: count,
  from_block_hash: hash,
  to_block: count,
  to_block_hash: hash,
  final: z.boolean(),
  own_wallets: z.array(address),
  reported_at: text,
  rule_version: z.int(),
  truncated: z.boolean(),
  transfers: z.array(TransferShape),
  transfers_total: count,
  sums: z.looseObject({}),
});
type Reported = z.output<typeof ReportShape>;
type Listed = z.output<typeof TransferShape>;

/** Their shapes were looked at by the first rule. */
const reported = ({ claims }: OpenedDocument) => claims as unknown as Reported;

/** In order: a later rule may rely on all before it. */
const rules: readonly Rule<OpenedDocument>[] = [
  {
    code: 'not_a_reconciliation',
    says: "What was signed is a reconciliation of a wallet's transfers.",
    fault: ({ claims }) => {
      const member = misshapen(ReportShape, claims);
      return member === null ? null : `What was signed is no report of this kind: ${member} is of another type.`;
    },
  },
  {
    code: 'rule_unknown',
    says: 'Its transfers were told apart by a rule that is known here.',
    fault: opened =>
      unless(
        reported(opened).rule_version === RECONCILIATION_RULE_VERSION,
        'They were told apart by a rule of another version.',
      ),
  },
  {
    code: 'order_broken',
    says: "Its transfers stand in the chain's order, each once, between its two blocks.",
    fault: opened => orderFault(reported(opened)),
  },
  {
    code: 'class_does_not_follow',
    says: 'Each has the class that follows from its payee and from what rests on it.',
    fault: opened => classFault(reported(opened)),
  },
  {
    code: 'sums_do_not_follow',
    says: 'The sums are those of its transfers.',
    fault: opened => sumFault(reported(opened)),
  },
];

function orderFault({ from_block, to_block, transfers }: Reported): string | null {
  if (from_block > to_block) return 'Its last block stands before its first.';
  const outside = transfers.find(({ block_number: at }) => at < from_block || at > to_block);
  if (outside) return `Block ${outside.block_number} does not stand between its two.`;
  const later = (one: Listed | undefined, other: Listed) =>
    one === undefined || one.block_number < other.block_number || isLaterInBlock(one, other);
  const wrong = transfers.find((each, at) => !later(transfers[at - 1], each));
  return wrong ? `Log ${wrong.log_index} of block ${wrong.block_number} stands out of order, or twice.` : null;
}

function isLaterInBlock(one: Listed, other: Listed): boolean {
  return one.block_number === other.block_number && one.log_index < other.log_index;
}

function classFault({ own_wallets, wallet, transfers }: Reported): string | null {
  const own = new Set(own_wallets.map(each => each.toLowerCase()));
  if (!own.has(wallet.toLowerCase())) return 'The wallet is not among its own.';
  const wrong = transfers.find(each => each.class !== classOf(each, own));
  return wrong
    ? `Log ${wrong.log_index} of block ${wrong.block_number} is ${classOf(wrong, own)}, and not ${wrong.class}.`
    : null;
}

function classOf({ payee, used }: Listed, own: ReadonlySet<string>): TransferClass {
  if (own.has(payee.toLowerCase())) return 'self_dealt';
  if (used === undefined) return 'unreceipted';
  return used.by === 'receipt' ? 'receipted' : 'ingested';
}

/** If the list is truncated, the sums must be no less than what is listed. */
function sumFault({ transfers, transfers_total, truncated, sums }: Reported): string | null {
  const listed = sumClasses(
    noSums,
    transfers.map(({ class: of, amount }) => ({ class: of, transfer: { amount: BigInt(amount) } })),
  );
  if (truncated !== transfers.length < transfers_total || transfers.length > transfers_total)
    return 'It lists another number of transfers than it says.';
  if (!truncated)
    return unless(canonicalJson(sumsAsJson(listed)) === canonicalJson(sums as Json), 'The sums are others.');
  const said = SumsShape.safeParse(sums);
  if (!said.success) return 'The sums are of another type.';
  const total = transferClasses.reduce((all, of) => all + said.data[of].count, 0);
  if (total !== transfers_total) return 'The sums count another number of transfers than it says.';
  const short = transferClasses.find(
    of => said.data[of].count < listed[of].count || BigInt(said.data[of].amount) < listed[of].amount,
  );
  return short ? `The sum of ${short} is less than what is listed.` : null;
}

const SumShape = z.strictObject({ count, amount: digits });
const SumsShape = z.strictObject({
  receipted: SumShape,
  ingested: SumShape,
  unreceipted: SumShape,
  self_dealt: SumShape,
});

/** What one that has passed every rule leaves open. */
function reportOn(claims: JsonObject): Report {
  const { from_block_hash, to_block_hash, truncated } = claims;
  return {
    unsigned: { lane: [], unknown: [] },
    broken: [],
    unchecked: [
      `Whether these are all transfers of the wallet: read the blocks from ${String(from_block_hash)} to ${String(to_block_hash)} from a node of your own (\`npm run reconcile\`).`,
      'Whether each receipt that it names is valid: verify it at its verify_url.',
      'Whether something unreceipted has a receipt by now, and whether own_wallets are all of that owner.',
      ...(truncated === true
        ? ['What the transfers that are not listed are: the sums of those are the issuer’s word.']
        : []),
    ],
  };
}
