import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database, Tx } from '../../database.ts';
import { type ClaimState, judge, type Use } from './claim.machine.ts';
import { idempotencyMarkOf, routerKeyMarkOf } from './landing.ts';
import { leased } from './lease.ts';
import { takeFreeSlots } from './slots.ts';

/** Name that a payer gave to a purchase. The same name from another payer is another purchase. */
export interface NamedPayment {
  readonly network: NetworkName;
  readonly payer: string;
  readonly identifier: string;
  /**
   * Kind of the name. Absent for x402's payment-identifier, `idempotency_key` for the header; `identifier` is then a keyed hash of the
   * header.
   */
  readonly by?: 'idempotency_key' | undefined;
}

const PREFIX = 'payment-identifier:';
const KEY_PREFIX = 'idempotency-key:';

/**
 * Slot of a name. The claim that first used the name holds the slot until the claim is released or deleted, so the name buys only once,
 * even after the answer is deleted.
 */
export function identifierSlot({ network, payer, identifier, by }: NamedPayment): string {
  return `${by === 'idempotency_key' ? KEY_PREFIX : PREFIX}${network}:${payer}:${identifier}`;
}

/** Kind of name that a slot belongs to. Null if it is not the name of a purchase. */
export function nameOfSlot(slot: string): 'payment_identifier' | 'idempotency_key' | null {
  if (slot.startsWith(PREFIX)) return 'payment_identifier';
  return slot.startsWith(KEY_PREFIX) ? 'idempotency_key' : null;
}

/** State of a purchase that is requested again under its name. */
export type NamedStanding = { readonly claim_key: string; readonly task_id: TaskId } & (
  | { readonly kind: 'replayed'; readonly answered: boolean; readonly landing: JsonObject }
  /** The name was used for another request. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'pending' }
);

interface Holder {
  readonly claim_key: string;
  readonly task_id: TaskId;
  readonly state: ClaimState;
  readonly request_hash: string;
  readonly answered: boolean;
  readonly landing: JsonObject;
  readonly leased: boolean;
}

/** Identity of the request that is sent under the name. */
type NamedRequest = Pick<Use, 'request_hash' | 'router_key_mark'>;

/** State of the purchase under a name. Null if no claim has the name; a released claim has given it up. */
export async function namedPayment(
  database: Pick<Database, 'query'>,
  named: NamedPayment,
  asked: NamedRequest,
): Promise<NamedStanding | null> {
  const [holder] = await database.query<Holder>({
    name: 'named payment',
    text: `select claim_key, task_id, state, request_hash, answer_box is not null as answered, landing, ${leased('c')} as leased from payment_claim c
      where claim_key = (select claim_key from claim_slot where slot = $1)`,
    values: [identifierSlot(named)],
  });
  return holder ? standingOf(holder, asked) : null;
}

/**
 * Applies `judge`, the rule for the same payment sent again. The authorization of the new request is not checked, so `published` and
 * `spent` are false.
 */
function standingOf({ claim_key, task_id, answered, landing, ...held }: Holder, asked: NamedRequest) {
  const unasked = { refusal_id: null, published: false, bound: false, possessed_by: null, failures: 0 };
  const standing = { ...held, ...unasked, task_id, router_key_mark: routerKeyMarkOf(landing) };
  const { kind } = judge(standing, { task_id: '', ...asked, possessed_by: null, spent: false });
  switch (kind) {
    case 'replayed':
      return { kind, claim_key, task_id, answered, landing };
    case 'foreign':
    case 'in_flight':
    case 'pending':
      return { kind, claim_key, task_id };
    default:
      return null;
  }
}

/**
 * Takes the names of a payment back that was released but has settled after all. A name that another purchase has used since stays with
 * that purchase.
 */
export async function retakeIdentifier(
  tx: Tx,
  { claimKey: claim_key, network, payer, identifier, landing }: RenamedPayment,
): Promise<void> {
  const mark = idempotencyMarkOf(landing);
  const named: NamedPayment[] = [
    ...(identifier === null ? [] : [{ network, payer, identifier }]),
    ...(mark === null ? [] : [{ network, payer, identifier: mark, by: 'idempotency_key' as const }]),
  ];
  await takeFreeSlots(
    tx,
    named.map(name => ({ slot: identifierSlot(name), claim_key })),
  );
}

interface RenamedPayment extends Omit<NamedPayment, 'identifier' | 'by'> {
  readonly claimKey: string;
  readonly identifier: string | null;
  readonly landing: JsonObject;
}
