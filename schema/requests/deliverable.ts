import { sha256Hex } from '../digest.ts';
import { COMMITMENT_FORM, type DigestKind, parseCommitment } from '../escrow.ts';
import type { CommittedOutput } from '../output-commitment.ts';
import type { ForeignInvoice } from './ingest-members.ts';

/* Reads what an invoice states about the delivered output. It can be stated in several ways, which have one canonical form. */

export type DeliveryStatement =
  | { readonly kind: 'stated'; readonly commitment: CommittedOutput }
  | { readonly kind: 'faulty'; readonly param: string; readonly fault: string };

type DeliveryMembers = Pick<
  ForeignInvoice,
  'deliverable' | 'deliverable_hash' | 'deliverable_kind' | 'output_commitment' | 'omit_deliverable'
>;

/** Reasons for a missing commitment: the invoice states nothing, or asks to omit it. */
const NOT_GIVEN = 'no_deliverable';
const OMITTED = 'omit_deliverable';

/**
 * The one commitment that all members together state. The kind of a hash has to be stated, because it is never guessed. A deliverable that
 * is sent in full is hashed by SHA-256, so any other kind beside it is a contradiction.
 */
export function deliveryStatedIn(invoice: DeliveryMembers): DeliveryStatement {
  const { deliverable, deliverable_hash: hash, deliverable_kind: kind, omit_deliverable } = invoice;
  const stated = commitmentIn(invoice.output_commitment);
  if (stated.kind === 'faulty') return stated;
  if (deliverable != null && kind != null && kind !== 'sha256')
    return faulty('deliverable_kind', 'contradicts deliverable, which is hashed by sha256');
  if (hash != null && kind == null) return faulty('deliverable_kind', 'is required with deliverable_hash');
  if (kind != null && hash == null && deliverable == null)
    return faulty('deliverable_hash', 'is required with deliverable_kind');

  const commitments: readonly CommittedHash[] = [
    ...(deliverable == null ? [] : [{ param: 'deliverable', kind: 'sha256' as const, hash: sha256Hex(deliverable) }]),
    ...(hash == null || kind == null ? [] : [{ param: 'deliverable_hash', kind, hash }]),
    ...(stated.committed ? [{ param: 'output_commitment', ...stated.committed }] : []),
  ];
  const [first, ...others] = commitments;
  if (first === undefined) return omittedCommitment(omit_deliverable ? OMITTED : (stated.omission_rule ?? NOT_GIVEN));
  const param = `output_commitment.${stated.omission_rule === null ? 'status' : 'omission_rule'}`;
  if (omit_deliverable) return faulty('omit_deliverable', `contradicts ${first.param}`);
  if (stated.unverified) return faulty(param, `contradicts ${first.param}`);
  const other = others.find(one => one.kind !== first.kind || one.hash !== first.hash);
  if (other) return faulty(other.param, `contradicts ${first.param}`);
  const commitment = { status: 'committed', hash: first.hash, kind: first.kind, omission_rule: null } as const;
  return { kind: 'stated', commitment };
}

interface CommittedHash {
  readonly param: string;
  readonly kind: DigestKind;
  readonly hash: string;
}

interface Commitment {
  readonly kind: 'read';
  readonly committed: Pick<CommittedHash, 'kind' | 'hash'> | null;
  /** True if the invoice states that there is no commitment, with or without a reason. */
  readonly unverified: boolean;
  readonly omission_rule: string | null;
}

function commitmentIn(
  stated: DeliveryMembers['output_commitment'],
): Commitment | Extract<DeliveryStatement, { kind: 'faulty' }> {
  if (stated == null) return { kind: 'read', committed: null, unverified: false, omission_rule: null };
  if (typeof stated === 'string') {
    const committed = parseCommitment(stated);
    if (committed === null) return faulty('output_commitment', COMMITMENT_FORM);
    return { kind: 'read', committed, unverified: false, omission_rule: null };
  }
  const { status, hash, kind, omission_rule } = stated;
  const member = (name: string, fault: string) => faulty(`output_commitment.${name}`, fault);
  if (hash != null && kind == null) return member('kind', 'is required with the hash: it is never guessed');
  if (kind != null && hash == null) return member('hash', 'is required with its kind');
  if (status === 'committed' && hash == null) return member('hash', 'is required where something is committed to');
  if (hash != null && status === 'UNVERIFIED') return member('status', 'contradicts the hash');
  if (hash != null && omission_rule != null) return member('omission_rule', 'contradicts the hash');
  const committed = hash != null && kind != null ? { hash, kind } : null;
  return { kind: 'read', committed, unverified: committed === null, omission_rule: omission_rule ?? null };
}

function omittedCommitment(omission_rule: string): DeliveryStatement {
  return { kind: 'stated', commitment: { status: 'UNVERIFIED', hash: null, kind: null, omission_rule } };
}

function faulty(param: string, fault: string): Extract<DeliveryStatement, { kind: 'faulty' }> {
  return { kind: 'faulty', param, fault };
}
